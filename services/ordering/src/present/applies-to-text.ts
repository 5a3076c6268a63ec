import { describeAppliesTo, type PatientTraits } from '../domain/applies-to.ts';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import type { OfferedTests } from '../domain/offered-tests.ts';
import { listed } from '../domain/panels.ts';

/** Describes why a test is unusual for a patient: its usual patients, and the recorded sex and age. */
export const describeUnusual = (test: Orderable, patient: PatientTraits) =>
  `${test.name} ${whyUnusual(test, patient)}`;

function whyUnusual({ appliesTo = {} }: Orderable, { gender, age }: PatientTraits): string {
  const years = age === undefined ? '' : ` aged ${age}`;
  return `is usually for ${describeAppliesTo(appliesTo)}. This patient is recorded as ${gender}${years}.`;
}

/** Explains the matches that a user cannot simply choose. Each note continues the name. */
export function describeNotOffered({ elsewhere, unusual }: OfferedTests, patient: PatientTraits) {
  return [
    ...elsewhere.map(({ name, instead }) => ({ name, text: `is not requested here. ${instead}` })),
    ...unusual.map((test) => ({
      name: test.name,
      text: `${whyUnusual(test, patient)} To request it all the same, search for its whole name.`,
    })),
  ];
}

/** Describes the tests of an order set that were not added, if there are any. */
export function describeLeftOut(leftOut: readonly string[], { orderables }: Catalogue): string[] {
  const names = leftOut.flatMap((code) => orderables.get(code)?.name ?? []);
  if (names.length === 0) return [];
  return [
    `Not added, because ${names.length === 1 ? 'it does' : 'they do'} not apply to this patient: ${listed(names)}.`,
  ];
}
