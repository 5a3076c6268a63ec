import { issuerOf, realmUrl } from '@clinical-launch/contracts/addresses';
import { fhirResourceTypes } from '@clinical-launch/contracts/token-context';
import { ukCoreProfile } from './fhir-resources.ts';

/** The date of the last change of the statement. FHIR requires this date. */
const changed = '2026-11-28';

const idParameter = {
  name: '_id',
  definition: 'http://hl7.org/fhir/SearchParameter/Resource-id',
  type: 'token',
};

/**
 * Returns the capability statement of a realm's FHIR base (FHIR R4, CapabilityStatement). Older libraries for
 * SMART read the addresses of the identity provider from the extension `oauth-uris`.
 */
export function capabilityStatement(publicUrl: string, realm: string) {
  const issuer = issuerOf(publicUrl, realm);
  const oauth = `${realmUrl(publicUrl, realm)}/oauth2/v2.0`;
  const addresses = {
    authorize: `${oauth}/authorize`,
    token: `${oauth}/token`,
    revoke: `${oauth}/revoke`,
    introspect: `${oauth}/introspect`,
  };
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date: changed,
    kind: 'instance',
    software: { name: 'Clinical Launch' },
    implementation: {
      description: 'The user, the organisation and the patient of a desktop launch',
      url: issuer,
    },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json'],
    rest: [
      {
        mode: 'server',
        security: {
          extension: [
            {
              url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
              extension: Object.entries(addresses).map(([url, valueUri]) => ({ url, valueUri })),
            },
          ],
          cors: true,
          service: [
            {
              coding: [
                {
                  system: 'http://terminology.hl7.org/CodeSystem/restful-security-service',
                  code: 'SMART-on-FHIR',
                },
              ],
            },
          ],
          description: `SMART App Launch 2.2. Clients configure themselves from ${issuer}/.well-known/smart-configuration`,
        },
        resource: fhirResourceTypes.map((type) => ({
          type,
          supportedProfile: [ukCoreProfile(type)],
          interaction: [{ code: 'read' }, ...(type === 'Patient' ? [{ code: 'search-type' }] : [])],
          ...(type === 'Patient' ? { searchParam: [idParameter] } : {}),
        })),
      },
    ],
  };
}
