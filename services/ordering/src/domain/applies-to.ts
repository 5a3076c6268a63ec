import type { LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { localDay } from '@clinical-launch/contracts/time';
import { monthsOld } from './days.ts';

/** The patients that a test, a question or an order set applies to. An absent limit excludes nobody. */
export type AppliesTo = {
  readonly sex?: 'female' | 'male';
  /** In completed years, both inclusive. */
  readonly ageFrom?: number;
  readonly ageTo?: number;
};

/** The patient's sex and age, which the limits refer to. */
export type PatientTraits = Pick<LaunchPatient, 'gender'> & {
  /** In completed years; absent if the date of birth is after today. */
  readonly age?: number;
};

type Limited = { readonly appliesTo?: AppliesTo };

/**
 * Returns the patient's sex, and their age today.
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
 * Returns whether an entry applies to a patient. A gender of `other` or `unknown` says nothing about the
 * body, so it excludes nothing. Nor does an unknown age.
 */
export function isFor({ appliesTo = {} }: Limited, { gender, age }: PatientTraits): boolean {
  const { sex, ageFrom = 0, ageTo = Number.POSITIVE_INFINITY } = appliesTo;
  const isOtherSex = (gender === 'female' || gender === 'male') && sex !== undefined && sex !== gender;
  const isOtherAge = age !== undefined && (age < ageFrom || age > ageTo);
  return !isOtherSex && !isOtherAge;
}

/** Returns an order set with only the tests that apply to a patient; with none if the set does not apply. */
export function setFor<Test extends Limited, OrderSet extends Limited & { readonly tests: readonly Test[] }>(
  set: OrderSet,
  patient: PatientTraits,
): OrderSet {
  return { ...set, tests: isFor(set, patient) ? set.tests.filter((test) => isFor(test, patient)) : [] };
}

/** The words for patients of each sex; `shortWords` are for places with little room. */
const patientWords = { female: 'female patients', male: 'male patients' };
export const shortWords = { female: 'women', male: 'men' };

/** Describes the patients that an entry applies to: `female patients aged 12 to 55`. */
export function describeAppliesTo({ sex, ageFrom, ageTo }: AppliesTo, words = patientWords): string {
  const patients = sex === undefined ? 'patients' : words[sex];
  if (ageFrom !== undefined && ageTo !== undefined) return `${patients} aged ${ageFrom} to ${ageTo}`;
  if (ageFrom !== undefined) return `${patients} aged ${ageFrom} or over`;
  return ageTo === undefined ? patients : `${patients} aged ${ageTo} or under`;
}
