import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import {
  type CodedIdentifier,
  isNational,
  isPatientSystem,
  isSure,
  type PatientIdentifier,
  spellingOf,
} from '@clinical-launch/contracts/coded-identifiers';
import {
  type DesktopContext,
  type DesktopPatient,
  nhsNumberOf,
} from '@clinical-launch/contracts/desktop-context';
import type { Concerning } from '@clinical-launch/contracts/events/catalogue';
import type { LaunchPatient, LaunchRequest, PersonName } from '@clinical-launch/contracts/launch-context';
import type { FhirIds, FhirResourceType } from '@clinical-launch/contracts/token-context';

/**
 * Computes the ids of FHIR resources, and the pseudonyms with which the audit trail finds the events of a
 * patient. All spellings of an identifier have the same pseudonym. Without the key, a pseudonym reveals
 * nothing about the patient.
 */
export type PatientPseudonyms = {
  /**
   * Returns the pseudonym of the patient with this identifier. The pseudonym of an identifier that identifies
   * nobody has a prefix of its own (`isOfNobody`).
   */
  of(identifier: CodedIdentifier): string;
  /**
   * Returns the pseudonym of a patient: of the first valid national identifier, or else of the first
   * identifier.
   */
  ofPatient(patient: Pick<LaunchPatient, 'identifiers'>): string | undefined;
  /**
   * Returns the pseudonym of the patient of a desktop launch: of the NHS number, or else of the first
   * identifier.
   */
  ofDesktopPatient(patient: Pick<DesktopPatient, 'patient-identifiers'>): string | undefined;
  /** Returns the ids under which a partner application reads the FHIR resources of its launch. */
  fhirIdsOf(launch: IdentifiedLaunch): FhirIds;
};

/**
 * Creates functions that compute pseudonyms: the HMAC-SHA-256 (RFC 2104) of an identifier. All services of an
 * installation use the same key, so that a search finds the events of all services about a patient.
 */
export function createPatientPseudonyms(key: Uint8Array): PatientPseudonyms {
  const secret = createSecretKey(key);
  const of = ({ system, value }: CodedIdentifier) => {
    const hash = createHmac('sha256', secret)
      .update(`${system}|${spellingOf({ system, value })}`)
      .digest('base64url');
    const isNobodys = isPatientSystem(system) && !isSure({ system, value });
    return isNobodys ? `${nobody}${hash.slice(nobody.length)}` : hash;
  };
  const ofFirst = (identifier: CodedIdentifier | undefined) =>
    identifier === undefined ? undefined : of(identifier);
  return {
    of,
    fhirIdsOf: createFhirIds(key),
    ofPatient: ({ identifiers }) => ofFirst(identifiers.find(isSureNational) ?? identifiers[0]),
    ofDesktopPatient: ({ 'patient-identifiers': identifiers }) => {
      const coded = identifiers.map(({ identifierType, identifierValue }) => ({
        system: desktopSystems[identifierType] ?? identifierType,
        value: String(identifierValue),
      }));
      return ofFirst(coded.find(({ system }) => system === 'nhs-number') ?? coded[0]);
    },
  };
}

/** Returns true if an identifier is national and sure, so that every practice uses the same identifier. */
const isSureNational = (identifier: PatientIdentifier) => isNational(identifier.system) && isSure(identifier);

const nobody = 'nobody-';

/**
 * Returns true for the pseudonym of an identifier that identifies nobody, such as a placeholder. Its events
 * may be about several patients.
 */
export const isOfNobody = (pseudonym: string): boolean => pseudonym.startsWith(nobody);

/** The types of identifiers in desktop launches that also exist in OLTR launches, with their names there. */
const desktopSystems: Readonly<Record<string, string>> = { 'NHS Number': 'nhs-number' };

/** Returns the user, practice and patient for the events of an OLTR launch, as far as they are known. */
export function concerningLaunch(
  { author, practice, patient }: Partial<Pick<LaunchRequest, 'author' | 'practice' | 'patient'>>,
  pseudonyms: PatientPseudonyms,
): Concerning {
  const pseudonym = patient && pseudonyms.ofPatient(patient);
  return {
    ...(author && { user: { username: author.username, name: writtenName(author.name) } }),
    ...(practice && { practice: { code: practice.identifier.value, name: practice.name } }),
    ...(pseudonym && { patient: pseudonym }),
  };
}

/** Returns the user, practice and patient for the events of a desktop launch. */
export function concerningDesktopLaunch(
  { user, organisation, patient }: Pick<DesktopContext, 'user' | 'organisation' | 'patient'>,
  pseudonyms: PatientPseudonyms,
): Concerning {
  const { title, firstName, familyName } = user;
  const pseudonym = pseudonyms.ofDesktopPatient(patient);
  return {
    user: { username: user.userERN, name: writtenName({ title, given: [firstName], family: familyName }) },
    practice: { code: organisation.ods, name: organisation.orgName },
    ...(pseudonym && { patient: pseudonym }),
  };
}

const writtenName = ({ title = '', given, family }: PersonName): string =>
  [title, ...given, family].filter((part) => part !== '').join(' ');

type IdentifiedLaunch = Pick<
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
function createFhirIds(key: Uint8Array): (launch: IdentifiedLaunch) => FhirIds {
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
