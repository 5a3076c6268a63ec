import {
  identifierFault,
  isNational,
  type PatientIdentifierSystem,
  syntheticNumberFaults,
} from '../coded-identifiers.ts';
import { type Fault, nearMiss, oneOf } from '../fault.ts';
import { birthDateProblem, isCalendarDate } from '../formats.ts';
import type { Action } from '../launch-context.ts';
import { entriesOf, lengthOf, memberOf, textsAmong } from '../schema.ts';
import type { IdentifierSystems } from './identifier-systems.ts';

/**
 * Rules that a schema cannot check, or only with error messages that would not help the caller. Each rule
 * accepts a resource of any shape, and ignores errors that the schema reports.
 */

const givenLimit = 70;
const givenTotalLimit = 35;
const familyLimits = { usual: 70, old: 35 };

/**
 * Checks that the given names in each name have at most 35 characters in total (OLTR: HumanName.given). Only
 * the family name of an old name is used.
 */
export function givenNameFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    if (memberOf(name, 'use') === 'old') return [];
    const lengths = textsAmong(entriesOf(name, 'given')).map(lengthOf);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (total <= givenTotalLimit || lengths.some((length) => length > givenLimit)) return [];
    const message = `must have at most ${givenTotalLimit} characters in total`;
    return [{ path: `name[${index}].given`, message, code: 'too-long' }];
  });
}

/**
 * Checks that a `null` in a list of texts is the placeholder of an entry of the list with `_`, such as
 * `_given` (FHIR R4 JSON, representation of primitive elements).
 */
export function placeholderFaults(resource: unknown): Fault[] {
  const faultsIn = (owner: unknown, path: string, member: string) =>
    entriesOf(owner, member).flatMap((text, index): Fault[] => {
      const beside = entriesOf(owner, `_${member}`)[index];
      if (text !== null || (typeof beside === 'object' && beside !== null)) return [];
      const message = `must be of type string, or null beside an entry of _${member}`;
      return [{ path: `${path}.${member}[${index}]`, message, code: 'structure' }];
    });
  return ['name', 'address'].flatMap((list) =>
    entriesOf(resource, list).flatMap((owner, at) =>
      ['prefix', 'given', 'line'].flatMap((member) => faultsIn(owner, `${list}[${at}]`, member)),
    ),
  );
}

/** Checks that a family name has at most 70 characters, or 35 if its use is old (OLTR: HumanName.family). */
export function familyFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    const family = memberOf(name, 'family');
    const limit = memberOf(name, 'use') === 'old' ? familyLimits.old : familyLimits.usual;
    if (typeof family !== 'string' || lengthOf(family) <= limit) return [];
    const message = `must have at most ${limit} characters`;
    return [{ path: `name[${index}].family`, message, code: 'too-long' }];
  });
}

/** Checks that a patient has one usual name and at most one previous (old) name (OLTR: Patient.name). */
export function patientUseFaults(patient: unknown): Fault[] {
  const uses = entriesOf(patient, 'name').map((name) => memberOf(name, 'use'));
  const areCountable =
    uses.length > 0 && uses.length <= 2 && uses.every((use) => use === 'usual' || use === 'old');
  if (!areCountable || uses.filter((use) => use === 'usual').length === 1) return [];
  return [{ path: 'name', message: 'must have exactly one entry whose use is usual', code: 'invariant' }];
}

/** Checks that `birthDate` is plausible (OLTR: Patient.birthDate). @param now ms since 1970 */
export function birthDateFaults(patient: unknown, now: number): Fault[] {
  const birthDate = memberOf(patient, 'birthDate');
  if (typeof birthDate !== 'string' || !isCalendarDate(birthDate)) return [];
  const message = birthDateProblem(birthDate, now);
  return message === undefined ? [] : [{ path: 'birthDate', message, code: 'value' }];
}

/** Checks that the `status` of a ServiceRequest does not say that a new order was already acted upon. */
export function statusFaults(payload: unknown, action: Action | undefined): Fault[] {
  const status = memberOf(payload, 'status');
  if (action !== 'OrderTest' || !['completed', 'on-hold', 'unknown'].some((one) => one === status)) return [];
  const message = 'must not be completed, on-hold or unknown in an OrderTest';
  return [{ path: 'status', message, code: 'not-supported' }];
}

/** `strict` requires national identifiers to be valid in their system. `lenient` accepts any text. */
export type IdentifierCheck = 'lenient' | 'strict';

/**
 * Checks that two identifiers are a national identifier and a hospital number (OLTR: Patient.identifier).
 * With `strict`, also checks each value.
 */
export function patientIdentifierFaults(
  patient: unknown,
  systems: IdentifierSystems<PatientIdentifierSystem>,
  check: IdentifierCheck,
): Fault[] {
  const identifiers = entriesOf(patient, 'identifier').map((identifier) => ({
    system: systems.get(textOr(memberOf(identifier, 'system'))),
    value: memberOf(identifier, 'value'),
  }));
  const [first, second] = identifiers.map(({ system }) => system);
  const isOneOfEach = first === undefined || second === undefined || isNational(first) !== isNational(second);
  const message = 'must be a national identifier, a hospital number, or one of each';
  const repeated: Fault[] =
    isOneOfEach || identifiers.length > 2 ? [] : [{ path: 'identifier', message, code: 'invariant' }];
  if (check === 'lenient') return repeated;
  const doubts = identifiers.flatMap(({ system, value }, index): Fault[] => {
    const message = system && typeof value === 'string' ? identifierFault({ system, value }) : undefined;
    return message === undefined ? [] : [{ path: `identifier[${index}].value`, message, code: 'value' }];
  });
  return [...repeated, ...doubts];
}

/**
 * Checks every NHS number in `contained` of a client that may send synthetic patients only. Also checks
 * resources without a reference to them.
 */
export function syntheticPatientFaults(
  payload: unknown,
  systems: IdentifierSystems<PatientIdentifierSystem>,
): Fault[] {
  return entriesOf(payload, 'contained').flatMap((resource, at) =>
    entriesOf(resource, 'identifier').flatMap((identifier, index) =>
      systems.get(textOr(memberOf(identifier, 'system'))) === 'nhs-number'
        ? syntheticNumberFaults(memberOf(identifier, 'value'), `contained[${at}].identifier[${index}].value`)
        : [],
    ),
  );
}

const textOr = (value: unknown) => (typeof value === 'string' ? value : '');

/** Checks that at least one name of a practitioner is usual (OLTR: Practitioner.name). */
export function practitionerUseFaults(practitioner: unknown): Fault[] {
  const uses = entriesOf(practitioner, 'name').map((name) => memberOf(name, 'use'));
  const areCountable = uses.length > 0 && uses.every((use) => typeof use === 'string');
  if (!areCountable || uses.includes('usual')) return [];
  return [{ path: 'name', message: 'must have an entry whose use is usual', code: 'invariant' }];
}

/** Returns true if an identifier is no longer in use (FHIR R4 datatypes, Identifier.use). */
export const isOld = (identifier: unknown): boolean => memberOf(identifier, 'use') === 'old';

/**
 * Checks that at least one identifier has a supported system and is not old. Identifiers with other systems,
 * and old identifiers, are allowed and ignored.
 */
export function identifierFaults(resource: unknown, supported: readonly string[]): Fault[] {
  const identifiers = entriesOf(resource, 'identifier');
  const systems = identifiers.map((identifier) => memberOf(identifier, 'system'));
  const areComparable =
    systems.length > 0 && systems.every((system) => typeof system === 'string' && system.trim() !== '');
  const found = identifiers.filter((_, at) => supported.some((one) => one === systems[at]));
  if (!areComparable || found.some((identifier) => !isOld(identifier))) return [];
  const message = `must have an entry whose system is ${oneOf(supported)}`;
  if (found.length > 0)
    return [{ path: 'identifier', message: `${message}, and whose use is not old`, code: 'not-supported' }];
  const hint = systems.map((system) => nearMiss(system, supported)).find((text) => text !== '') ?? '';
  return [{ path: 'identifier', message: message + hint, code: 'invariant' }];
}
