import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { type DesktopContext, nhsNumberOf } from '@clinical-launch/contracts/desktop-context';
import type { FhirIds, FhirResourceType } from '@clinical-launch/contracts/token-context';

/** The members of a launch context that determine the ids of its FHIR resources. */
export type IdentifiedLaunch = Pick<
  DesktopContext,
  'realm' | 'clientId' | 'launchId' | 'user' | 'organisation' | 'patient'
>;

/**
 * Creates the function that computes the ids of a launch's FHIR resources. An id is an HMAC-SHA-256 (RFC
 * 2104) of realm, partner application, type and identity, shortened to 128 bits in hexadecimal digits. A
 * partner receives the same id for the same patient in every launch. Two partners receive different ids, so
 * they cannot combine their data by an id. The key is derived (RFC 5869), so that no id equals a pseudonym of
 * the audit trail.
 */
export function createFhirIds(key: Uint8Array): (launch: IdentifiedLaunch) => FhirIds {
  const derived = hkdfSync('sha256', key, '', 'clinical-launch FHIR ids', 32);
  const secret = createSecretKey(Buffer.from(derived));
  return (launch) => {
    const { realm, clientId, user, organisation } = launch;
    const idOf = (type: FhirResourceType, ...identity: string[]) =>
      createHmac('sha256', secret)
        .update(JSON.stringify([realm, clientId, type, ...identity]))
        .digest('hex')
        .slice(0, 32);
    return {
      Patient: idOf('Patient', ...identityOf(launch)),
      Practitioner: idOf('Practitioner', user.userERN),
      Organization: idOf('Organization', organisation.orgERN),
    };
  };
}

/**
 * Returns the texts that identify a patient. A valid NHS number identifies the patient everywhere. Any other
 * identifier identifies the patient only within its organisation, because two organisations may use the same
 * value for two patients. A patient without a usable identifier has a different id in each launch.
 */
function identityOf({ patient, organisation, launchId }: IdentifiedLaunch): string[] {
  const identifiers = patient['patient-identifiers'];
  const [national] = identifiers.flatMap((identifier) => nhsNumberOf(identifier) ?? []);
  if (national !== undefined) return ['NHS Number', national];
  const own = identifiers.filter(({ identifierType }) => identifierType !== 'NHS Number');
  const used = own.find(({ identifierType }) => identifierType === 'GUID') ?? own[0];
  return used === undefined
    ? ['launch', launchId]
    : ['organisation', organisation.orgERN, used.identifierType, String(used.identifierValue).toLowerCase()];
}
