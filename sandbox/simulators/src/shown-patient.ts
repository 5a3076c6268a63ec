import { identifierLabels, shownIdentifier } from '@clinical-launch/contracts/coded-identifiers';
import { type Patient, records } from './records.ts';
import { shownDate } from './shown-time.ts';

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

export const shownRecords = { ...records, patients: records.patients.map(shownPatient) };
