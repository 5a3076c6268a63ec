import type { Fault } from '../schema.ts';
import { entriesOf, lengthOf, memberOf, textsAmong } from './payload-access.ts';

/**
 * The rules that cross elements, which a schema cannot say with a useful message. Each takes a resource of any shape,
 * sees what it can, and is silent where the schema has already named the cause.
 */

const givenLimit = 70;
const givenTotalLimit = 35;
const familyLimits = { usual: 70, old: 35 };

/** OLTR: HumanName.given: 35 characters in all, in every name of the resource. */
export function givenNameFaults(resource: unknown): Fault[] {
  return entriesOf(resource, 'name').flatMap((name, index) => {
    const lengths = textsAmong(entriesOf(name, 'given')).map(lengthOf);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    if (total <= givenTotalLimit || lengths.some((length) => length > givenLimit)) return [];
    return [
      { path: `name[${index}].given`, message: `must have at most ${givenTotalLimit} characters in all` },
    ];
  });
}

/** OLTR: HumanName.family: 70 characters, or 35 where the use is old. */
export function patientFamilyFaults(patient: unknown): Fault[] {
  return entriesOf(patient, 'name').flatMap((name, index) => {
    const family = memberOf(name, 'family');
    const limit = memberOf(name, 'use') === 'old' ? familyLimits.old : familyLimits.usual;
    if (typeof family !== 'string' || lengthOf(family) <= limit) return [];
    return [{ path: `name[${index}].family`, message: `must have at most ${limit} characters` }];
  });
}

/** OLTR: Patient.name: the usual name, and at most one previous (old) name beside it. */
export function patientUseFaults(patient: unknown): Fault[] {
  const uses = entriesOf(patient, 'name').map((name) => memberOf(name, 'use'));
  const areCountable =
    uses.length > 0 && uses.length <= 2 && uses.every((use) => use === 'usual' || use === 'old');
  if (!areCountable || uses.filter((use) => use === 'usual').length === 1) return [];
  return [{ path: 'name', message: 'must have exactly one entry whose use is usual' }];
}

/** OLTR: Practitioner.name: any number of names, of which the usual one is supported. */
export function practitionerUseFaults(practitioner: unknown): Fault[] {
  const uses = entriesOf(practitioner, 'name').map((name) => memberOf(name, 'use'));
  const areCountable = uses.length > 0 && uses.every((use) => typeof use === 'string');
  if (!areCountable || uses.includes('usual')) return [];
  return [{ path: 'name', message: 'must have an entry whose use is usual' }];
}

/** OLTR: `identifier` 1..*, of which one is processed: one must be of a supported system. */
export function identifierFaults(resource: unknown, supported: readonly string[]): Fault[] {
  const systems = entriesOf(resource, 'identifier').map((identifier) => memberOf(identifier, 'system'));
  const areComparable =
    systems.length > 0 && systems.every((system) => typeof system === 'string' && system.trim() !== '');
  if (!areComparable || systems.some((system) => supported.some((one) => one === system))) return [];
  const wanted = `${supported.length > 1 ? 'one of ' : ''}${supported.join(', ')}`;
  return [{ path: 'identifier', message: `must have an entry whose system is ${wanted}` }];
}
