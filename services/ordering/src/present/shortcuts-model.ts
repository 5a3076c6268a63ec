import { isFor, type PatientTraits } from '../domain/applies-to.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { chosenTests, type Draft } from '../domain/draft.ts';
import type { OwnChoices } from './catalogue-model.ts';

/** The number of chips on the line above the catalogue; the others are behind a button. */
const chipsOnLine = 8;

export type ShortcutsBasis = {
  readonly draft: Draft;
  readonly catalogue: Catalogue;
  readonly own: OwnChoices;
  /** Codes of the tests that the practice requests most, most first. */
  readonly mostRequested: readonly string[];
  readonly patient: PatientTraits;
};

/**
 * Presents the tests that are one click away: the favourites of the user and of the practice, and the tests
 * that it requests most. Each test is there once, and only if the catalogue has it and it applies to the
 * patient.
 */
export function presentShortcuts({ draft, catalogue, own, mostRequested, patient }: ShortcutsBasis) {
  const chosen = new Set(chosenTests(draft, catalogue).map(({ code }) => code));
  const shown = new Set<string>();
  const chips = (['yours', 'practice', 'most-requested'] as const).flatMap((id) => {
    const codes = { yours: own.personal, practice: own.favourites, 'most-requested': mostRequested }[id];
    return codes
      .flatMap((code) => catalogue.orderables.get(code) ?? [])
      .filter((test) => isFor(test, patient) && !shown.has(test.code) && shown.add(test.code))
      .map((test) => ({ id, test: { ...test, isChosen: chosen.has(test.code) } }));
  });
  return { line: grouped(chips.slice(0, chipsOnLine)), more: grouped(chips.slice(chipsOnLine)) };
}

const labels = { yours: 'Yours', practice: 'Practice', 'most-requested': 'Most requested here' } as const;

type Chip<Test> = { readonly id: keyof typeof labels; readonly test: Test };

function grouped<Test>(chips: readonly Chip<Test>[]) {
  return [...Map.groupBy(chips, ({ id }) => id)].map(([id, own]) => ({
    id,
    label: labels[id],
    tests: own.map(({ test }) => test),
  }));
}
