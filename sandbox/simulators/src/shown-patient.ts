import { identifierLabels, shownIdentifier } from '@clinical-launch/contracts/coded-identifiers';
import { localTime, shortened, writtenDate } from '@clinical-launch/contracts/time';
import { type Patient, records } from './records.ts';

const genders = { male: 'Male', female: 'Female', other: 'Other', unknown: 'Not known' } as const;

/** Returns a patient as the pages show it. */
export function shownPatient({ id, name, birthDate, gender, address, identifiers }: Patient) {
  return {
    id,
    name,
    born: shownDate(birthDate),
    gender: genders[gender],
    address: [...address.lines, address.postalCode ?? []].flat().join(', ') || 'Not known',
    identifiers: identifiers.map((identifier) => ({
      label: identifierLabels[identifier.system],
      value: shownIdentifier(identifier),
    })),
  };
}

/** Returns a date written YYYY-MM-DD as people write it: `28 Feb 1958`. */
export const shownDate = (date: string): string => shortened(writtenDate(date));

/** Returns the time of an instant at the practice: `16:10:05`. @param instant milliseconds since 1970 */
export const timeOfDay = (instant: number): string => localTime(instant, 'Europe/London').slice(11);

export const shownRecords = { ...records, patients: records.patients.map(shownPatient) };
