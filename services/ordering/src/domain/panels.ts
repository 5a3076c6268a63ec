import type { Catalogue, Orderable } from './catalogue.ts';

/** A test that need not be ordered, because a chosen panel contains it. */
export type CoveredTest = { readonly test: Orderable; readonly panel: Orderable };

/** Returns the tests that the chosen panels contain, each once. */
export function coveredBy(chosen: readonly string[], { orderables }: Catalogue): CoveredTest[] {
  const covered = new Map<string, CoveredTest>();
  for (const panel of chosen.flatMap((code) => orderables.get(code) ?? [])) {
    for (const code of panel.covers) {
      const test = orderables.get(code);
      if (test !== undefined && !covered.has(code)) covered.set(code, { test, panel });
    }
  }
  return [...covered.values()];
}

/**
 * Returns the chosen codes without the tests that a chosen panel contains. A panel and a part of it are never
 * ordered together.
 */
export function withoutCovered(chosen: readonly string[], catalogue: Catalogue): string[] {
  const covered = new Set(coveredBy(chosen, catalogue).map(({ test }) => test.code));
  return chosen.filter((code) => !covered.has(code));
}

/** Returns names as a list: `Ferritin`, `Ferritin and Folate`, `Ferritin, Vitamin B12 and Folate` */
export function listed(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}
