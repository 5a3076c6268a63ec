import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import type { Draft } from '../domain/draft.ts';
import { coveredBy } from '../domain/panels.ts';
import { orderSetOf, type PracticeChoices } from '../domain/practice-choices.ts';
import type { TestSearch } from '../domain/test-search.ts';

type CataloguePage = {
  readonly draft: Draft;
  readonly catalogue: Catalogue;
  /**
   * The practice's own choices in this catalogue. Tests that the catalogue no longer contains are left out.
   */
  readonly own: PracticeChoices;
  readonly search: TestSearch;
};

/** Presents the catalogue to choose tests from, with the practice's own choices. */
export function presentCatalogue({ draft, catalogue, own, search }: CataloguePage) {
  const matches = search(draft.search);
  const favourites = new Set(own.favourites);
  const practiceSets = own.sets.map((set) => orderSetOf(set, catalogue));
  const panels = new Map(
    coveredBy(draft.chosen, catalogue).map(({ test, panel }) => [test.code, panel.name]),
  );
  const tests = [...catalogue.orderables.values()].map((test) => ({
    ...test,
    isChosen: draft.chosen.includes(test.code) && !panels.has(test.code),
    isMatch: matches.has(test.code),
    isFavourite: favourites.has(test.code),
    includedIn: panels.get(test.code),
    parts: test.covers.flatMap((code) => catalogue.orderables.get(code)?.name ?? []),
  }));
  const orderSets = [...catalogue.orderSets.values()];
  return {
    query: draft.search,
    matchCount: matches.size,
    testCount: tests.length,
    orderSets,
    practiceSets,
    addedSet: [...orderSets, ...practiceSets].find(({ id }) => id === draft.notice?.addedSet),
    groups: presentSections(catalogue, tests),
  };
}

/** Returns the sections of the catalogue's page: the practice's favourites first, and each test once. */
function presentSections(
  catalogue: Catalogue,
  tests: readonly (Orderable & { readonly isFavourite: boolean; readonly isMatch: boolean })[],
) {
  const favourites = tests.filter(({ isFavourite }) => isFavourite);
  const sections = catalogue.groups.map((group) => {
    const own = tests.filter((test) => test.group === group);
    return {
      ...group,
      tests: own.filter(({ isFavourite }) => !isFavourite),
      elsewhere: own.filter(({ isFavourite }) => isFavourite).map(({ name }) => name),
    };
  });
  const first = { id: 'favourites', name: 'Favourites of this practice', tests: favourites, elsewhere: [] };
  return [...(favourites.length === 0 ? [] : [first]), ...sections].map((section) => ({
    ...section,
    isMatch: section.tests.some(({ isMatch }) => isMatch),
  }));
}
