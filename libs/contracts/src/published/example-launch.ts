import type { DesktopLaunch } from '../desktop-context.ts';

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
