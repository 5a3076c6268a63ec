import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { writtenDate } from '@clinical-launch/contracts/time';
import type { PatientTraits } from '../domain/applies-to.ts';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { changeTests, newLocations } from '../domain/change-tests.ts';
import { drawList, planBatches, samplesInDrawOrder } from '../domain/collection.ts';
import type { Draft, FavouritesOutcome, Notice, Undo } from '../domain/draft.ts';
import { isLive } from '../domain/lifecycle.ts';
import { coveredBy, listed } from '../domain/panels.ts';
import { fullName, listName } from '../domain/person-name.ts';
import { type EarlierTest, needsReason, type Repeat } from '../domain/repeats.ts';
import { inapplicableTests } from '../domain/review.ts';
import type { SampleKind, SiteAnswers } from '../domain/sample-kind.ts';
import type { Selection } from '../domain/selection.ts';
import { codeOf, type RequestedSample, type TestRequest } from '../domain/test-request.ts';
import { describeLeftOut, describeUnusual } from './applies-to-text.ts';
import { describeAgain } from './shortcuts-model.ts';

function describeRepeat({ test, latest, day, daysAgo, minimumIntervalDays: days }: Repeat): string {
  const requested = `${nameOf(test, latest)} was requested on ${writtenDate(day)} (${ago(daysAgo)})`;
  const said = `${requested} by ${fullName(latest.requester)}: ${stateOf(latest)}.`;
  const interval = days === undefined ? '' : ` Not usually repeated within ${counted(days)}.`;
  return `${said}${interval}${checkPatient(latest)}`;
}

/** Returns the sentence for a request whose patient has another name, or an empty text. */
const checkPatient = ({ otherPatient }: EarlierTest) =>
  otherPatient === undefined
    ? ''
    : ` Check the patient. That request was made for ${listName(otherPatient)}.`;

/** Returns the earlier requests that can be used instead of repeats, each with the names of its tests. */
function presentUsable(repeats: readonly Repeat[]) {
  const references = new Set(repeats.flatMap(({ usable }) => usable?.orderReference ?? []));
  return [...references].map((orderReference) => {
    const own = repeats.filter(({ usable }) => usable?.orderReference === orderReference);
    const [otherPatient] = own.flatMap(({ usable }) => usable?.otherPatient ?? []);
    return {
      orderReference,
      tests: listed(own.map(({ test: { name } }) => name)),
      ...(otherPatient && { patient: listName(otherPatient) }),
    };
  });
}

function describeUsed(used: Notice['used'], { orderables }: Pick<Catalogue, 'orderables'>): string[] {
  if (used === undefined) return [];
  const names = used.codes.flatMap((code) => orderables.get(code)?.name ?? []);
  return [`${listed(names)} removed: already in request ${used.orderReference}.`];
}

function nameOf({ code, name, covers }: Orderable, latest: EarlierTest): string {
  if (latest.code === code) return name;
  return covers.includes(latest.code)
    ? `${latest.description} (part of ${name})`
    : `${name} (in ${latest.description})`;
}

function stateOf({ isSampleTaken, container, provider }: EarlierTest): string {
  if (isSampleTaken) return 'sample collected';
  return container === undefined ? `sent to ${provider}` : 'sample not collected yet';
}

const ago = (days: number) => (days === 0 ? 'today' : `${counted(days)} ago`);

const counted = (days: number) => `${days} ${days === 1 ? 'day' : 'days'}`;

export type Chosen = {
  readonly draft: Draft;
  readonly selection: Selection;
  readonly patient: PatientTraits;
  readonly repeats: readonly Repeat[];
  /** The request that is changed; absent for a new order. */
  readonly changed: TestRequest | undefined;
  readonly catalogue: Catalogue;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
};

/** Presents the chosen tests for the panel and for the review. */
export function presentChosen({ draft, selection, patient, repeats, changed, catalogue, now }: Chosen) {
  const { tests: chosen, added, addedTests, removed } = selection;
  const batches = planBatches(chosen, catalogue, draft.answers);
  const repeated = repeats.map((repeat) => ({ test: repeat.test, said: describeRepeat(repeat) }));
  const needing = repeats.filter(needsReason).map(({ test: { name } }) => name);
  const unusual = inapplicableTests(patient, addedTests).map((test) => ({
    test,
    said: describeUnusual(test, patient),
  }));
  return {
    chosen,
    added,
    removed: linesOf(changed, removed),
    // Tests of the request that have left the catalogue.
    retired: linesOf(
      changed,
      draft.chosen.filter((code) => !catalogue.orderables.has(code)),
    ),
    takenCodes: takenCodes(changed),
    batches,
    draws:
      changed === undefined
        ? drawList(batches).map(({ tests, location, ...kind }) => ({
            container: kind.container,
            description: shortDescription(kind),
            detail: drawDetail(tests.length, location.name),
          }))
        : drawsAfter(changed, { answers: draft.answers, added: addedTests, removed, catalogue, now }),
    repeats: repeated,
    repeatsWithReason: needing.length === 0 ? undefined : listed(needing),
    usable: presentUsable(repeats),
    unusual,
    warnings: Object.fromEntries(
      addedTests.map((added) => [
        added.code,
        [...unusual, ...repeated].filter(({ test }) => test === added).map(({ said }) => said),
      ]),
    ),
    covered: coveredBy(draft.chosen, catalogue),
    said: [
      ...describeTakenOff(draft.notice?.takenOff ?? [], draft.chosen, catalogue),
      ...describeUsed(draft.notice?.used, catalogue),
      ...describeAgain(draft.notice?.again, catalogue),
      ...describeLeftOut(draft.notice?.leftOut ?? [], catalogue),
      ...describeFavourites(draft.notice?.favourites),
      ...describeUndone(draft.notice?.undone),
      ...describeNotAdded(draft),
    ],
    typed: presentTyped(draft, catalogue),
    undo: presentUndo(draft.notice?.undo, catalogue),
    areFavouritesFull: draft.notice?.favourites === 'full',
    isChange: changed !== undefined,
  };
}

/** Presents for the review what it did with the text in the search box. `undo` contains the added codes. */
function presentTyped({ notice }: Draft, { orderables }: Catalogue) {
  const typed = notice?.typed;
  if (typed === undefined) return undefined;
  if ('notAdded' in typed) return { text: `Not added: ${typed.notAdded}.` };
  const names = listed(typed.added.map((code) => orderables.get(code)?.name ?? code));
  return { text: `Added from the search box: ${names}.`, undo: typed.added.join(',') };
}

/** Explains on the page for choosing tests why it stays: the text in its search box names no test. */
function describeNotAdded({ notice, search }: Draft): string[] {
  const typed = notice?.typed;
  if (typed === undefined || !('notAdded' in typed) || typed.notAdded !== search) return [];
  const { notAdded, unknown } = typed;
  const parts = unknown.length === 0 ? [notAdded] : unknown;
  return [
    `“${notAdded}” was not added, because no single test is called “${parts.join('” or “')}”. Choose a test from the list. To go on without it, press Review again.`,
  ];
}

const undoneTexts = {
  done: 'Your last removal has been undone.',
  late: 'This can no longer be undone. Nothing has been changed.',
};

const describeUndone = (undone: Notice['undone']) => (undone === undefined ? [] : [undoneTexts[undone]]);

function presentUndo(undo: Undo | undefined, { orderables }: Catalogue) {
  if (undo === undefined) return undefined;
  const { id, removed } = undo;
  if (removed.kind === 'practice-set') return { id, text: `Removed the order set “${removed.set.name}”.` };
  const codes = removed.kind === 'tests' ? removed.codes : [removed.code];
  const names = listed(codes.map((code) => orderables.get(code)?.name ?? code));
  const from = {
    tests: '',
    favourite: ' from your favourites',
    'practice-favourite': ' from the practice favourites',
  };
  return { id, text: `Removed ${names}${from[removed.kind]}.` };
}

const favouritesTexts: Readonly<Record<FavouritesOutcome, string>> = {
  shared: 'The chosen tests are now practice favourites.',
  full: 'You cannot add another favourite. Remove one first.',
  empty: 'Choose tests before you add them to the practice favourites.',
};

const describeFavourites = (outcome: FavouritesOutcome | undefined) =>
  outcome === undefined ? [] : [favouritesTexts[outcome]];

const drawDetail = (tests: number, location: string) =>
  `${tests} ${tests === 1 ? 'test' : 'tests'} · ${location}`;

function linesOf(changed: TestRequest | undefined, codes: readonly string[]) {
  const lines = changed?.batches.flatMap(({ tests }) => tests.filter(isLive)) ?? [];
  return lines
    .filter((line) => codes.includes(codeOf(line)))
    .map((line) => ({ code: codeOf(line), name: line.description, isTaken: line.status === 'S' }));
}

const takenCodes = (changed: TestRequest | undefined) =>
  changed?.batches.flatMap(({ tests }) => tests.filter(({ status }) => status === 'S').map(codeOf)) ?? [];

/**
 * Describes a sample on the pages for choosing tests: `EDTA blood, purple top`, `Viral swab, green top,
 * Throat`.
 */
const shortDescription = ({ container, timing, site, siteFrom }: SampleKind) =>
  [
    container.name,
    container.closure,
    timing,
    site ?? (siteFrom === undefined ? undefined : 'site not stated yet'),
  ]
    .filter((part) => part !== undefined)
    .join(', ');

/**
 * Returns the samples that remain to be collected after a change. Applies the change to a copy of the
 * request, because an added test may share a sample of the request.
 */
function drawsAfter(request: TestRequest, { added, answers, removed, catalogue, now }: ChangedDraws) {
  const add = added.map((test) => ({ test }));
  const answered = Object.entries(answers).map(([question, answer]) => ({ question, text: '', answer }));
  const after = changeTests(
    { ...request, answers: answered },
    {
      add,
      remove: removed,
      now: new Date(now).toISOString(),
      batchNumbers: newLocations(request.batches, add).map(() => 0),
      newGuid: () => '',
    },
  );
  return samplesInDrawOrder(after, catalogue)
    .filter(({ sample }) => sample.completedAt === undefined)
    .map(({ sample, container, tests, batch }) => ({
      container,
      description:
        container === undefined ? sample.description : shortDescription({ ...placeOf(sample), container }),
      detail: drawDetail(tests.length, batch.provider.name),
    }));
}

const placeOf = ({ site, timing }: RequestedSample) => withoutUndefined({ site, timing });

type ChangedDraws = Pick<Selection, 'removed'> &
  Pick<Chosen, 'catalogue' | 'now'> & {
    readonly added: readonly Orderable[];
    readonly answers: SiteAnswers;
  };

/**
 * Describes the tests that chosen panels contain and that were removed, in one sentence for each panel:
 * `Ferritin removed: already in Haematinics profile.`
 */
function describeTakenOff(
  takenOff: readonly string[],
  chosen: readonly string[],
  catalogue: Catalogue,
): string[] {
  const covered = coveredBy(chosen, catalogue).filter(({ test }) => takenOff.includes(test.code));
  const panels = new Set(covered.map(({ panel }) => panel));
  return [...panels].map((panel) => {
    const names = covered.filter((each) => each.panel === panel).map(({ test }) => test.name);
    return `${listed(names)} removed: already in ${panel.name}.`;
  });
}
