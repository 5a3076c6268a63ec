import type { PersonName } from '@clinical-launch/contracts';

/** Returns a name as pages show it: `Surname, Given (Title)`. */
export function fullName({ family, given, title }: PersonName): string {
  const name = given.length === 0 ? family : `${family}, ${given.join(' ')}`;
  return title === undefined ? name : `${name} (${title})`;
}
