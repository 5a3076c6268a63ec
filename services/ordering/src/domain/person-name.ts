import type { PersonName } from '@clinical-launch/contracts/launch-context';
import { lettersOf } from './request-search.ts';

/** Returns a name as pages show it: `Surname, Given (Title)`. */
export function fullName({ family, given, title }: PersonName): string {
  const name = given.length === 0 ? family : `${family}, ${given.join(' ')}`;
  return title === undefined ? name : `${name} (${title})`;
}

/** Returns a surname in capitals, as in the patient banner of the NHS Common User Interface. */
export const inCapitals = (family: string) => family.toLocaleUpperCase('en-GB');

/** Returns the name of a patient as pages and papers show it: `SURNAME, Given (Title)`. */
export const patientName = (name: PersonName) => fullName({ ...name, family: inCapitals(name.family) });

/** Returns the name of a patient for a list: without the title, because a row is narrow. */
export const listName = ({ family, given }: PersonName) => patientName({ family, given });

/**
 * Returns true if two names differ at most in title, letter case, accents, apostrophes, hyphens and spaces. A
 * warning that shows two equal names would teach users to ignore it.
 */
export const isSameName = (one: PersonName, other: PersonName): boolean =>
  lettersOf(one.family) === lettersOf(other.family) &&
  lettersOf(one.given.join('')) === lettersOf(other.given.join(''));

/** Returns a short name: `Dr T Bairstow`. */
export const shortName = ({ title = '', family, given }: PersonName) =>
  [title, given.map((name) => name.replace(/^(.).*$/su, '$1')).join(''), family].filter(Boolean).join(' ');
