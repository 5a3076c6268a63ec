import { describeSearch, findsSet, keysOfName, splitLabel, writeNames } from '../../public/named-tests.js';
import { describeAppliesTo, isFor, type PatientTraits, setFor, shortWords } from '../domain/applies-to.ts';
import type { Catalogue, Orderable, OrderSet } from '../domain/catalogue.ts';
import type { Draft } from '../domain/draft.ts';
import { offeredTests } from '../domain/offered-tests.ts';
import { coveredBy } from '../domain/panels.ts';
import { type OwnChoices, orderSetOf } from '../domain/practice-choices.ts';
import type { TestSearch } from '../domain/test-search.ts';
import { describeNotOffered } from './applies-to-text.ts';

type CataloguePage = {
  readonly draft: Draft;
  readonly catalogue: Catalogue;
  /** Favourites and order sets of the user and the practice. The page omits tests that left the catalogue. */
  readonly own: OwnChoices;
  readonly patient: PatientTraits;
  readonly search: TestSearch;
};

/** Presents the catalogue for choosing tests, with favourites and order sets of user and practice. */
export function presentCatalogue({ draft, catalogue, own, patient, search }: CataloguePage) {
  const offered = offeredTests({ catalogue, query: draft.search, patient, search });
  const favourites = new Set(own.personal);
  const presentSets = (sets: readonly OrderSet[]) =>
    sets
      .map((set) => setFor(set, patient))
      .filter(({ tests: usual }) => usual.length > 0)
      .map((set) => ({ ...set, isMatch: draft.search === '' || findsSet(draft.search, set.name) }));
  const practiceSets = presentSets(own.sets.map((set) => orderSetOf(set, catalogue)));
  const orderSets = presentSets([...catalogue.orderSets.values()]);
  const panels = new Map(
    coveredBy(draft.chosen, catalogue).map(({ test, panel }) => [test.code, panel.name]),
  );
  const tests = [...catalogue.orderables.values()].map((test) => ({
    ...test,
    ...namesOnPage(test, search),
    isChosen: draft.chosen.includes(test.code) && !panels.has(test.code),
    isMatch: offered.codes.has(test.code),
    isFavourite: favourites.has(test.code),
    ...(isFor(test, patient)
      ? {}
      : {
          usuallyFor: describeAppliesTo(test.appliesTo ?? {}),
          isFor: describeAppliesTo(test.appliesTo ?? {}, shortWords),
        }),
    includedIn: panels.get(test.code),
    parts: test.covers.flatMap((code) => catalogue.orderables.get(code)?.name ?? []),
  }));
  const described = new Map(tests.map(({ code, shortName, isFor }) => [code, { name: shortName, isFor }]));
  const notes = describeNotOffered(offered, patient);
  return {
    query: draft.search,
    notes,
    names: writeNames(search.names, (code) => labelOf(catalogue.orderables.get(code))),
    found: describeSearch({
      query: draft.search,
      count: offered.codes.size,
      sets: draft.search === '' ? 0 : [...practiceSets, ...orderSets].filter(({ isMatch }) => isMatch).length,
      total: tests.filter(({ usuallyFor }) => usuallyFor === undefined).length,
      named: offered.named,
      isExplained: notes.length > 0,
      describe: (code) => described.get(code) ?? { name: code },
    }),
    orderSets,
    practiceSets,
    areSetsFound: [...practiceSets, ...orderSets].some(({ isMatch }) => isMatch) || draft.search === '',
    practiceFavourites: own.favourites.flatMap((code) => catalogue.orderables.get(code) ?? []),
    addedSet: [...orderSets, ...practiceSets].find(({ id }) => id === draft.notice?.addedSet),
    groups: presentSections(catalogue, tests, draft.search === '' ? undefined : offered.codes),
  };
}

const labelOf = ({ name = '', abbreviation }: Partial<Orderable> = {}) =>
  abbreviation === undefined ? name : `${name} (${abbreviation})`;

/**
 * Returns the label of a test and its short name: the abbreviation, or the name if the abbreviation is absent or
 * not unique. `hasOwnName` is true if the script cannot read the short name from the label.
 */
function namesOnPage(test: Orderable, { names }: TestSearch) {
  const { name, abbreviation = name } = test;
  const isUnique = keysOfName(abbreviation).every((key) => names.get(key)?.length === 1);
  const [label, shortName] = [labelOf(test), isUnique ? abbreviation : name];
  const read = splitLabel(label);
  return { label, shortName, hasOwnName: shortName !== (read.abbreviation ?? read.name) };
}

type Listed = Orderable & {
  readonly isMatch: boolean;
  readonly usuallyFor?: string;
};

/**
 * Returns the sections of the page for choosing tests. The first section contains the matches of a search,
 * best match first. The groups contain all other tests.
 */
function presentSections(
  { groups }: Catalogue,
  tests: readonly Listed[],
  matches: ReadonlySet<string> = new Set(),
) {
  const found = [...matches].flatMap((code) => tests.filter((test) => test.code === code));
  const sections = groups.map((section) => {
    const own = tests.filter(({ group }) => group.id === section.id);
    return {
      ...section,
      tests: own.filter(({ code }) => !matches.has(code)),
      count: own.filter(({ usuallyFor }) => usuallyFor === undefined).length,
    };
  });
  return [{ id: 'matches', name: 'Matches', tests: found, count: 0 }, ...sections].map((section) => ({
    ...section,
    isMatch: section.tests.some(({ isMatch }) => isMatch),
  }));
}
