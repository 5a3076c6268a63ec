import { doubtOf, isNational, type PatientIdentifierSystem } from '../coded-identifiers.ts';
import { type Fault, oneOf } from '../fault.ts';
import { isCalendarDate, isFutureDate } from '../formats.ts';
import { entriesOf, lengthOf, memberOf, textsAmong } from '../schema.ts';
import type { IdentifierSystems } from './identifier-systems.ts';

/**
 * Rules about several elements, for which a schema has no useful message. Each rule accepts a resource of any
 * shape, and ignores errors that the schema reports.
 */

const givenLimit = 70;
const givenTotalLimit = 35;
const familyLimits = { usual: 70, old: 35 };

/** Checks OLTR: HumanName.given: at most 35 characters in total in each name of the resource. */
export function givenNameFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    const lengths = textsAmong(entriesOf(name, 'given')).map(lengthOf);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (total <= givenTotalLimit || lengths.some((length) => length > givenLimit)) return [];
    const message = `must have at most ${givenTotalLimit} characters in total`;
    return [{ path: `name[${index}].given`, message, code: 'too-long' }];
  });
}

/** Checks OLTR: HumanName.family: at most 70 characters, or 35 if the use is old. */
export function familyFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    const family = memberOf(name, 'family');
    const limit = memberOf(name, 'use') === 'old' ? familyLimits.old : familyLimits.usual;
    if (typeof family !== 'string' || lengthOf(family) <= limit) return [];
    const message = `must have at most ${limit} characters`;
    return [{ path: `name[${index}].family`, message, code: 'too-long' }];
  });
}

/** Checks OLTR: Patient.name: exactly one usual name, and at most one previous (old) name. */
export function patientUseFaults(patient: unknown): Fault[] {
  const uses = entriesOf(patient, 'name').map((name) => memberOf(name, 'use'));
  const areCountable =
    uses.length > 0 && uses.length <= 2 && uses.every((use) => use === 'usual' || use === 'old');
  if (!areCountable || uses.filter((use) => use === 'usual').length === 1) return [];
  return [{ path: 'name', message: 'must have exactly one entry whose use is usual', code: 'invariant' }];
}

/** Checks OLTR: Patient.birthDate: not in the future. @param now milliseconds since 1970 */
export function birthDateFaults(patient: unknown, now: number): Fault[] {
  const birthDate = memberOf(patient, 'birthDate');
  if (typeof birthDate !== 'string' || !isCalendarDate(birthDate)) return [];
  if (!isFutureDate(birthDate, now)) return [];
  return [{ path: 'birthDate', message: 'must not be in the future', code: 'value' }];
}

/** Whether national identifiers must be valid in their system (`strict`), or may be any text (`lenient`). */
export type IdentifierCheck = 'lenient' | 'strict';

/** Checks OLTR: Patient.identifier: a national one, a hospital number, or one of each. */
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
    const doubt = system && typeof value === 'string' ? doubtOf({ system, value }) : undefined;
    return doubt === undefined ? [] : [{ path: `identifier[${index}].value`, message: doubt, code: 'value' }];
  });
  return [...repeated, ...doubts];
}

const textOr = (value: unknown) => (typeof value === 'string' ? value : '');

/** Checks OLTR: Practitioner.name: any number of names, with at least one usual name, which is used. */
export function practitionerUseFaults(practitioner: unknown): Fault[] {
  const uses = entriesOf(practitioner, 'name').map((name) => memberOf(name, 'use'));
  const areCountable = uses.length > 0 && uses.every((use) => typeof use === 'string');
  if (!areCountable || uses.includes('usual')) return [];
  return [{ path: 'name', message: 'must have an entry whose use is usual', code: 'invariant' }];
}

/** Checks OLTR: `identifier` 1..*, of which one is processed. At least one must have a supported system. */
export function identifierFaults(resource: unknown, supported: readonly string[]): Fault[] {
  const systems = entriesOf(resource, 'identifier').map((identifier) => memberOf(identifier, 'system'));
  const areComparable =
    systems.length > 0 && systems.every((system) => typeof system === 'string' && system.trim() !== '');
  if (!areComparable || systems.some((system) => supported.some((one) => one === system))) return [];
  const message = `must have an entry whose system is ${oneOf(supported)}`;
  return [{ path: 'identifier', message, code: 'invariant' }];
}
