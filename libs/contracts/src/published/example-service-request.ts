import type { DesktopLaunch } from '../desktop-context.ts';
import { createVocabulary } from '../fhir/identifier-systems.ts';
import type { Namespaces } from '../namespaces.ts';

/**
 * Returns a valid payload for RequestLaunchUrl about an invented patient (OLTR: Resources and their fields).
 */
export function exampleServiceRequest(namespaces: Namespaces) {
  const vocabulary = createVocabulary(namespaces);
  return {
    resourceType: 'ServiceRequest',
    extension: [
      { url: vocabulary.actionExtension, valueString: 'OrderTest' },
      { url: vocabulary.authorExtension, valueReference: { reference: '#person-1' } },
    ],
    identifier: [{ system: vocabulary.originatingId, value: 'PMS-2026-000471' }],
    subject: { reference: '#patient-1' },
    authoredOn: '2026-03-02T09:30:00Z',
    requester: { reference: '#role-1' },
    performer: [{ reference: '#organization-2' }],
    contained: containedResources(vocabulary.username, namespaces),
  };
}

const containedResources = (usernames: string, { fhir, nhs, hl7uk }: Namespaces) => [
  {
    resourceType: 'Person',
    id: 'person-1',
    name: [{ use: 'usual', family: 'Rees', given: ['Carys'] }],
    identifier: [{ system: usernames, value: 'c.rees' }],
  },
  {
    resourceType: 'Patient',
    id: 'patient-1',
    name: [{ use: 'usual', prefix: ['Mr'], family: 'Specimen', given: ['John'] }],
    birthDate: '1971-07-14',
    gender: 'male',
    address: [{ use: 'home', type: 'physical', line: ['1 Example Street'], postalCode: 'ZZ99 3WZ' }],
    identifier: [{ system: `${nhs}/Id/nhs-number`, value: '9990000018' }],
  },
  {
    resourceType: 'PractitionerRole',
    id: 'role-1',
    practitioner: { reference: '#practitioner-1' },
    organization: { reference: '#organization-1' },
  },
  {
    resourceType: 'Practitioner',
    id: 'practitioner-1',
    identifier: [{ system: `${hl7uk}/Id/professional-code`, value: 'G9999998' }],
    name: [{ use: 'usual', prefix: ['Dr'], family: 'Rees', given: ['Carys'] }],
  },
  {
    resourceType: 'Organization',
    id: 'organization-1',
    identifier: [{ system: `${nhs}/Id/ods-organization-code`, value: 'Y00001' }],
    name: 'Example Surgery',
  },
  {
    resourceType: 'Organization',
    id: 'organization-2',
    identifier: [{ system: `${fhir}/Id/performing-org`, value: 'LAB01' }],
    name: 'Example Laboratory',
  },
];

/** Returns a valid body of a desktop launch request about an invented patient (Desktop: ID token claims). */
export function exampleLaunch(partner: string): DesktopLaunch {
  return {
    client_id: partner,
    user: {
      userERN: 'ern:user:1042',
      email: 'c.rees@surgery.example',
      title: 'Dr',
      firstName: 'Carys',
      familyName: 'Rees',
    },
    organisation: { orgERN: 'ern:org:17', orgName: 'Example Surgery', cdb: '10001', ods: 'Y00001' },
    authorizations: ['clinical-cr.read'],
    patient: {
      title: 'Mr',
      forenames: 'John',
      surname: 'Specimen',
      gender: 'Male',
      dob: '14-Jul-1971',
      'patient-identifiers': [{ identifierType: 'NHS Number', identifierValue: '999 000 0018' }],
      'address-details': [{ addressLine1: '1 Example Street' }],
      'contact-details': [],
    },
  };
}
