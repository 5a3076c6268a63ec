import type { Catalogue, Orderable } from './catalogue.ts';
import type { TypedDate } from './days.ts';
import { withoutCovered } from './panels.ts';
import type { PracticeSet } from './practice-choices.ts';
import { liveCodes, type Priority, type RequestDetails, type TestRequest } from './test-request.ts';

/** The key of a draft: `target` is the request that it changes, or the launch itself for a new order. */
export type DraftPlace = {
  readonly launchId: string;
  readonly target: string;
  /** Identifies the user, patient, practice, client and laboratory whose next launch may find the draft. */
  readonly ownerKey?: string | undefined;
};

/** The choices in a launch before they are submitted. */
export type Draft = {
  /**
   * The GUID of the next submission, so that a form sent twice is submitted once. A new order uses it as its
   * own GUID.
   */
  readonly submissionId: string;
  /** Increases with each change of the chosen tests, so that a form shows whether its tests are current. */
  readonly version: number;
  /** Codes of the chosen tests, in the order of the catalogue. */
  readonly chosen: readonly string[];
  /** For a change: the request when the change began. */
  readonly base?: DraftBase;
  readonly search: string;
  readonly clinicalDetails: string;
  readonly priority: Priority;
  /** As typed, by id of the question; a date as `writeTypedDate` writes it. */
  readonly answers: Readonly<Record<string, string>>;
  /** The reason for a test within its minimum interval, by code. */
  readonly repeatReasons: Readonly<Record<string, string>>;
  /** The reason for all other tests within their minimum interval: from the list, and as typed. */
  readonly repeatReason: RepeatReason;
  /** The reason for a test that does not apply to the patient, by code. */
  readonly overrideReasons: Readonly<Record<string, string>>;
  readonly collection: CollectionPlan;
  /** When the earlier draft that this one continues was last changed. ISO 8601 instant */
  readonly restoredFrom?: string;
  /** The user discarded an earlier draft, so this launch offers no other. */
  readonly hasDeclined?: true;
  /** Increases whenever fields of the review are stored. */
  readonly edits: number;
  /** The page whose automatic save stored them last. */
  readonly savedBy?: Pick<PageSave, 'page' | 'sequence'>;
  /** The result of the last step, which the next page shows. */
  readonly notice?: Notice;
};

/** The content of a request when a change of it began. */
export type DraftBase = Pick<Draft, 'chosen' | 'clinicalDetails' | 'priority' | 'answers'> & {
  readonly version: number;
};

/** An automatic save of a review page while the user types. */
export type PageSave = {
  /** A GUID that is unique to each page sent. */
  readonly page: string;
  /** Increases with each save of the page. */
  readonly sequence: number;
  /** `edits` of the draft that the page showed. */
  readonly edits: number;
};

export type RepeatReason = { readonly choice: string; readonly typed: string };

export type Notice = {
  /** The id of the order set that was added. */
  readonly addedSet?: string;
  /** The earlier request whose tests were chosen: its local day, YYYY-MM-DD, and the tests. */
  readonly again?: {
    readonly day: string;
    readonly codes: readonly string[];
    /** Names of its tests that the catalogue does not contain. */
    readonly missing: readonly string[];
  };
  /** Codes of tests of that set or request that were not added, because they do not apply to the patient. */
  readonly leftOut?: readonly string[];
  /** Codes of tests that were removed because a chosen panel contains them. */
  readonly takenOff?: readonly string[];
  /** Tests that were removed because an earlier request already contains them. */
  readonly used?: { readonly orderReference: string; readonly codes: readonly string[] };
  /** The result for one of the practice's own order sets, by its name as typed. */
  readonly practiceSet?: { readonly outcome: PracticeSetOutcome; readonly name: string };
  /** The removal of the last step, which can be undone until the next step. */
  readonly undo?: Undo;
  /** The result of an undo: `late` if another step came first. */
  readonly undone?: 'done' | 'late';
  /** The result for the favourites of the practice or the user. */
  readonly favourites?: FavouritesOutcome;
  /** The version of the request before this change was added to a newer one. */
  readonly rebasedFrom?: number;
};

/** A removal that can be undone. Its id stops an old page from undoing another removal. */
export type Undo = { readonly id: string; readonly removed: Removed };

export type Removed =
  | { readonly kind: 'tests'; readonly codes: readonly string[] }
  | { readonly kind: 'favourite' | 'practice-favourite'; readonly code: string }
  | { readonly kind: 'practice-set'; readonly set: PracticeSet };

export type FavouritesOutcome = 'shared' | 'full' | 'empty';

export type PracticeSetOutcome = 'saved' | 'deleted' | 'unnamed' | 'taken' | 'full' | 'empty' | 'gone';

/**
 * When the samples are taken: later, or now, with the person and the time as typed, in the practice's local
 * time.
 */
export type CollectionPlan = { readonly when: 'later' } | ({ readonly when: 'now' } & CollectionEntry);

/** The person, date and time of a collection, as typed in a form. */
export type CollectionEntry = {
  readonly by: string;
  readonly date: TypedDate;
  /** As typed: `14:05` */
  readonly time: string;
};

/** Returns the draft of a new order. */
export const emptyDraft = (submissionId: string): Draft => ({
  submissionId,
  version: 0,
  chosen: [],
  search: '',
  clinicalDetails: '',
  priority: 'routine',
  answers: {},
  repeatReasons: {},
  repeatReason: { choice: '', typed: '' },
  overrideReasons: {},
  collection: { when: 'later' },
  edits: 0,
});

/** A draft that the user left behind in an earlier launch, and when it was last changed (ISO 8601). */
export type LeftDraft = { readonly draft: Draft; readonly changedAt: string };

/** Returns whether a draft of a new order contains anything that its user would have to enter again. */
export const hasContent = ({ chosen, clinicalDetails }: Pick<Draft, 'chosen' | 'clinicalDetails'>) =>
  chosen.length > 0 || clinicalDetails !== '';

/** Returns whether the draft of an earlier launch may be offered in place of this one. */
export const isOffered = (draft: Draft) =>
  !hasContent(draft) && draft.restoredFrom === undefined && draft.hasDeclined === undefined;

/**
 * Returns the draft of a launch that continues an earlier draft. Leaves out the collection, because the time
 * typed then is not the time of these samples.
 */
export function continueDraft(own: Draft, { draft, changedAt }: LeftDraft): Draft {
  const { notice: _notice, savedBy: _savedBy, hasDeclined: _hasDeclined, ...content } = draft;
  const { search, collection } = emptyDraft(own.submissionId);
  return { ...content, ...nextOf(own), search, collection, restoredFrom: changedAt };
}

/** Returns the draft after its user discarded it. */
export const emptiedDraft = (draft: Draft): Draft => ({
  ...emptyDraft(draft.submissionId),
  ...nextOf(draft),
  hasDeclined: true,
});

/** The higher numbers let a page that is still open detect the replacement. */
const nextOf = ({ submissionId, version, edits }: Draft) => ({
  submissionId,
  version: version + 1,
  edits: edits + 1,
});

/**
 * Returns the draft of a change: the content of the request, to which tests are added or from which they are
 * removed.
 */
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

/** Returns the tests that a change adds to its request and removes from it; a new order adds all. */
export function differenceOf({ chosen, base }: Pick<Draft, 'chosen' | 'base'>, catalogue: Catalogue) {
  const before = base?.chosen ?? [];
  const after = withoutCovered(chosen, catalogue);
  return {
    added: after.filter((code) => !before.includes(code)),
    removed: before.filter((code) => !after.includes(code)),
  };
}

/**
 * Applies the change in a draft to a request that another user has changed since: adds and removes the same
 * tests, and keeps the other changes of this draft.
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

/** Returns codes in the order of the catalogue; codes of an older catalogue come last. */
export function inCatalogueOrder(codes: readonly string[], { orderables }: Catalogue): string[] {
  const wanted = new Set(codes);
  return [
    ...[...orderables.keys()].filter((code) => wanted.has(code)),
    ...codes.filter((code) => !orderables.has(code)),
  ];
}

/** The maximum length of clinical details. */
export const maxClinicalDetailsLength = 2000;

/** Returns typed text with LF line ends, and without characters that a database or a page does not accept. */
export function cleanText(text: string): string {
  return withoutControls(text.replace(/\r\n?/g, '\n')).trim();
}

/** Removes the characters that a database or a page does not accept. */
export const withoutControls = (text: string) => text.replace(/[^\P{Cc}\n\t]|[\uFFFE\uFFFF]/gu, '');

/**
 * Returns the beginning of a text, of at most `length` UTF-16 units. Never splits a surrogate pair, because a
 * database rejects half of one.
 */
export const beginningOf = (text: string, length: number) =>
  text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

/**
 * Returns the chosen tests, without those that the catalogue no longer contains or that a chosen panel
 * contains.
 */
export function chosenTests({ chosen }: Pick<Draft, 'chosen'>, catalogue: Catalogue): Orderable[] {
  return withoutCovered(chosen, catalogue).flatMap((code) => catalogue.orderables.get(code) ?? []);
}
