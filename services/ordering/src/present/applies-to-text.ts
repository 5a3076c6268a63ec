import { describeAppliesTo, type PatientTraits } from '../domain/applies-to.ts';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import type { OfferedTests } from '../domain/offered-tests.ts';
import { listed } from '../domain/panels.ts';

/** Explains why a test is unusual for a patient: for whom it is usual, and the recorded gender and age. */
export const describeUnusual = (test: Orderable, patient: PatientTraits) =>
  `${test.name} ${whyUnusual(test, patient)}`;

function whyUnusual({ appliesTo = {} }: Orderable, { gender, age }: PatientTraits): string {
  const years = age === undefined ? '' : ` aged ${age}`;
  return `is usually for ${describeAppliesTo(appliesTo)}. This patient is recorded as ${gender}${years}.`;
}

/** Explains the matches that a user cannot choose in the list. Each text follows the name of the test. */
export function describeNotOffered({ elsewhere, unusual }: OfferedTests, patient: PatientTraits) {
  return [
    ...elsewhere.map(({ name, instead }) => ({ name, text: `is not requested here. ${instead}` })),
    ...unusual.map((test) => ({
      name: test.name,
      text: `${whyUnusual(test, patient)} To request it all the same, search for its whole name.`,
    })),
  ];
}

/** Describes the tests that were not added because they do not apply to the patient. */
export function describeLeftOut(leftOut: readonly string[], { orderables }: Catalogue): string[] {
  const names = leftOut.flatMap((code) => orderables.get(code)?.name ?? []);
  if (names.length === 0) return [];
  return [
    `Not added, because ${names.length === 1 ? 'it does' : 'they do'} not apply to this patient: ${listed(names)}.`,
  ];
}
