import { describeAppliesTo, type PatientTraits } from '../domain/applies-to.ts';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { listed } from '../domain/panels.ts';

/** Describes why a test is unusual for a patient: whom it is for, and what the record says. */
export function describeUnusual({ name, appliesTo = {} }: Orderable, { gender, age }: PatientTraits): string {
  const years = age === undefined ? '' : ` aged ${age}`;
  return `${name} is usually for ${describeAppliesTo(appliesTo)}. This patient is recorded as ${gender}${years}.`;
}

/** Describes the tests of an order set that were not added, if there are any. */
export function describeLeftOut(leftOut: readonly string[], { orderables }: Catalogue): string[] {
  const names = leftOut.flatMap((code) => orderables.get(code)?.name ?? []);
  if (names.length === 0) return [];
  return [
    `Not added, because ${names.length === 1 ? 'it does' : 'they do'} not apply to this patient: ${listed(names)}.`,
  ];
}
