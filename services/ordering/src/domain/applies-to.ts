import type { LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { localDay } from '@clinical-launch/contracts/time';
import { monthsOld } from './days.ts';

/** Limits a test, a question or an order set to some patients. An absent limit excludes nobody. */
export type AppliesTo = {
  readonly sex?: 'female' | 'male';
  /** The youngest and the oldest age in completed years, both inclusive. */
  readonly ageFrom?: number;
  readonly ageTo?: number;
};

/** The patient's recorded gender and age, which decide whether a limit excludes the patient. */
export type PatientTraits = Pick<LaunchPatient, 'gender'> & {
  /** The age in completed years; absent if the date of birth is after today. */
  readonly age?: number;
};

type Limited = { readonly appliesTo?: AppliesTo };

/**
 * Returns the patient's gender and their age today.
 * @param moment `now`: milliseconds since 1970; `timeZone`: IANA name
 */
export function traitsOf(
  { gender, birthDate }: Pick<LaunchPatient, 'gender' | 'birthDate'>,
  { now, timeZone }: { readonly now: number; readonly timeZone: string },
): PatientTraits {
  const months = monthsOld(localDay(now, timeZone), birthDate);
  return { gender, ...(months === undefined ? {} : { age: Math.floor(months / 12) }) };
}

/**
 * Returns whether a catalogue entry applies to a patient. The gender `other` or `unknown` says nothing about
 * the patient's body, so it excludes no entry. An unknown age excludes no entry either.
 */
export function isFor({ appliesTo = {} }: Limited, { gender, age }: PatientTraits): boolean {
  const { sex, ageFrom = 0, ageTo = Number.POSITIVE_INFINITY } = appliesTo;
  const isOtherSex = (gender === 'female' || gender === 'male') && sex !== undefined && sex !== gender;
  const isOtherAge = age !== undefined && (age < ageFrom || age > ageTo);
  return !isOtherSex && !isOtherAge;
}

/**
 * Returns an order set with only the tests that apply to a patient. If the set itself does not apply, it
 * contains no tests.
 */
export function setFor<Test extends Limited, OrderSet extends Limited & { readonly tests: readonly Test[] }>(
  set: OrderSet,
  patient: PatientTraits,
): OrderSet {
  return { ...set, tests: isFor(set, patient) ? set.tests.filter((test) => isFor(test, patient)) : [] };
}

/** The words for patients of each sex. The note next to the search box uses `shortWords`. */
const patientWords = { female: 'female patients', male: 'male patients' };
export const shortWords = { female: 'women', male: 'men' };

/** Describes the patients to whom an entry applies: `female patients aged 12 to 55`. */
export function describeAppliesTo({ sex, ageFrom = 0, ageTo }: AppliesTo, words = patientWords): string {
  const patients = sex === undefined ? 'patients' : words[sex];
  if (ageFrom > 0 && ageTo !== undefined) return `${patients} aged ${ageFrom} to ${ageTo}`;
  if (ageFrom > 0) return `${patients} aged ${ageFrom} or over`;
  return ageTo === undefined ? patients : `${patients} aged ${ageTo} or under`;
}
