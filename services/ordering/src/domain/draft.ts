import type { Catalogue, Orderable } from './catalogue.ts';
import { withoutCovered } from './panels.ts';
import { liveCodes, type Priority, type RequestDetails, type TestRequest } from './test-request.ts';

/**
 * Where a draft belongs: `target` is the request that it changes, or the launch itself when it is a new
 * order.
 */
export type DraftPlace = { readonly launchId: string; readonly target: string };

/** What is chosen in a launch before it is submitted. */
export type Draft = {
  /**
   * The GUID of the submission to come, so that however often it is sent there is one. A new order has it as its own.
   */
  readonly submissionId: string;
  /** Rises whenever other tests are chosen: what was reviewed can be told from what is chosen now. */
  readonly version: number;
  /** Codes of the chosen tests, in the order of the catalogue. */
  readonly chosen: readonly string[];
  /** Of a change: the request that it began with. */
  readonly base?: DraftBase;
  readonly search: string;
  readonly clinicalDetails: string;
  readonly priority: Priority;
  /** As typed, by id of the question; a date as `writeTypedDate` writes it. */
  readonly answers: Readonly<Record<string, string>>;
  /** Why a test is ordered again within its minimum interval, by code. */
  readonly repeatReasons: Readonly<Record<string, string>>;
  readonly collection: CollectionPlan;
  /** What the last step did, for the next page to say. */
  readonly notice?: Notice;
};

/** What a request had when a change of it began. */
export type DraftBase = Pick<Draft, 'chosen' | 'clinicalDetails' | 'priority' | 'answers'> & {
  readonly version: number;
};

export type Notice = {
  /** The id of the order set that was added. */
  readonly addedSet?: string;
  /** Codes of tests that were taken off, because a chosen panel contains them. */
  readonly takenOff?: readonly string[];
  /** What became of one of the practice's own order sets, by its name as typed. */
  readonly practiceSet?: { readonly outcome: PracticeSetOutcome; readonly name: string };
  readonly areFavouritesFull?: boolean;
  /** The version of the request that a change was made for, before it was put upon a newer one. */
  readonly rebasedFrom?: number;
};

export type PracticeSetOutcome = 'saved' | 'deleted' | 'unnamed' | 'taken' | 'full' | 'empty' | 'gone';

/** When the samples are taken: later, or now, by whom and when, as typed and of the practice's local time. */
export type CollectionPlan = { readonly when: 'later' } | ({ readonly when: 'now' } & CollectionEntry);

/** Who took a sample and when, as a form has it. */
export type CollectionEntry = {
  readonly by: string;
  /** As typed: day, month and year. */
  readonly date: { readonly day: string; readonly month: string; readonly year: string };
  /** As typed: `14:05` */
  readonly time: string;
};

/** The draft of a new order. */
export const emptyDraft = (submissionId: string): Draft => ({
  submissionId,
  version: 0,
  chosen: [],
  search: '',
  clinicalDetails: '',
  priority: 'routine',
  answers: {},
  repeatReasons: {},
  collection: { when: 'later' },
});

/** The draft of a change of a request: what the request has, to be added to or removed from. */
export function draftOf(request: TestRequest, submissionId: string): Draft {
  const { version, ...content } = baseOf(request);
  return { ...emptyDraft(submissionId), ...content, base: { version, ...content } };
}

function baseOf(request: TestRequest): DraftBase {
  return {
    version: request.version,
    chosen: liveCodes(request),
    clinicalDetails: request.clinicalDetails,
    priority: request.priority,
    answers: typedAnswers(request),
  };
}

const typedAnswers = ({ answers }: Pick<RequestDetails, 'answers'>) =>
  Object.fromEntries(answers.map(({ question, answer }) => [question, answer]));

/** What a change adds to its request and takes from it; of a new order everything is added. */
export function differenceOf({ chosen, base }: Pick<Draft, 'chosen' | 'base'>, catalogue: Catalogue) {
  const before = base?.chosen ?? [];
  const after = withoutCovered(chosen, catalogue);
  return {
    added: after.filter((code) => !before.includes(code)),
    removed: before.filter((code) => !after.includes(code)),
  };
}

/**
 * Puts a change upon a request that somebody else changed meanwhile: the same tests are added and taken away, and of
 * the rest what this draft changed stays changed.
 */
export function rebase(draft: Draft, request: TestRequest, catalogue: Catalogue): Draft {
  const { added, removed } = differenceOf(draft, catalogue);
  const base = baseOf(request);
  const before = draft.base ?? base;
  const chosen = [...new Set([...base.chosen, ...added])].filter((code) => !removed.includes(code));
  return {
    ...draft,
    version: draft.version + 1,
    base,
    chosen: inCatalogueOrder(withoutCovered(chosen, catalogue), catalogue),
    clinicalDetails:
      draft.clinicalDetails === before.clinicalDetails ? base.clinicalDetails : draft.clinicalDetails,
    priority: draft.priority === before.priority ? base.priority : draft.priority,
    answers: { ...base.answers, ...changedEntries(draft.answers, before.answers) },
    notice: { rebasedFrom: before.version },
  };
}

function changedEntries(now: Draft['answers'], before: Draft['answers']): Draft['answers'] {
  return Object.fromEntries(Object.entries(now).filter(([key, value]) => before[key] !== value));
}

/** Codes in the order of the catalogue; what a request has of an older catalogue comes last. */
export function inCatalogueOrder(codes: readonly string[], { orderables }: Catalogue): string[] {
  const wanted = new Set(codes);
  return [
    ...[...orderables.keys()].filter((code) => wanted.has(code)),
    ...codes.filter((code) => !orderables.has(code)),
  ];
}

/** The longest clinical details that are kept with an order. */
export const maxClinicalDetailsLength = 2000;

/** Text as a person typed it: line ends as LF, no characters that neither a database nor a page can carry. */
export function cleanText(text: string): string {
  return withoutControls(text.replace(/\r\n?/g, '\n')).trim();
}

/** Text without the characters that neither a database nor a page can carry. */
export const withoutControls = (text: string) => text.replace(/[^\P{Cc}\n\t]|[\uFFFE\uFFFF]/gu, '');

/**
 * The beginning of a text, of at most so many UTF-16 units. No character is cut in two: half of one is no text, which a
 * database refuses.
 */
export const beginningOf = (text: string, length: number) =>
  text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

/** The chosen tests; one that the catalogue no longer has is not among them, nor one that a chosen panel contains. */
export function chosenTests({ chosen }: Pick<Draft, 'chosen'>, catalogue: Catalogue): Orderable[] {
  return withoutCovered(chosen, catalogue).flatMap((code) => catalogue.orderables.get(code) ?? []);
}
