import type { Code } from '@clinical-launch/contracts/order/order';
import type { Catalogue, Orderable } from './catalogue.ts';
import type { TypedDate } from './days.ts';
import { withoutCovered } from './panels.ts';
import type { PracticeSet } from './practice-choices.ts';
import { laboratoryKeyOf } from './request-search.ts';
import { liveCodes, type Priority, type RequestDetails, type TestRequest } from './test-request.ts';

/** The key of a draft. `target` is the request that the draft changes, or the launch of a new order. */
export type DraftPlace = {
  readonly launchId: string;
  readonly target: string;
  /** The key by which the next launch of the same user and patient finds the draft (`draftOwnerKeyOf`). */
  readonly ownerKey?: string | undefined;
};

/** The chosen tests and typed fields of a launch before the user submits them. */
export type Draft = {
  /**
   * The GUID of the next submission, so that a form sent twice is submitted once. It is also the GUID of the
   * request that a new order creates.
   */
  readonly submissionId: string;
  /** Increases when the chosen tests change. The service does not submit a review of an older version. */
  readonly version: number;
  /** Codes of the chosen tests, in the order of the catalogue. */
  readonly chosen: readonly string[];
  /** The content of the request when its change began; absent for a new order. */
  readonly base?: DraftBase;
  readonly search: string;
  readonly clinicalDetails: string;
  readonly priority: Priority;
  /** The typed answers, by the key of the answer. A date has the format of `writeTypedDate`. */
  readonly answers: Readonly<Record<string, string>>;
  /** The reasons for repeats of single tests, by the code of the test. */
  readonly repeatReasons: Readonly<Record<string, string>>;
  /** The shared reason for all other repeats: the choice from the list, and the typed text. */
  readonly repeatReason: RepeatReason;
  /** The reasons for tests that do not apply to the patient, by the code of the test. */
  readonly overrideReasons: Readonly<Record<string, string>>;
  readonly cancelReason?: RepeatReason;
  readonly collection: CollectionPlan;
  /**
   * The time of the earlier draft's last change, as an ISO 8601 instant. Present if this draft continues an
   * earlier draft.
   */
  readonly restoredFrom?: string;
  /** Present if the user discarded an earlier draft. Then the launch offers no earlier draft. */
  readonly hasDeclined?: true;
  /** Increases each time fields of the review are stored or the draft is replaced. */
  readonly edits: number;
  /** The page whose automatic save last stored fields of the review. */
  readonly savedBy?: Pick<PageSave, 'page' | 'sequence'>;
  /** The text in the search box when the user last chose a test or an order set that it found. */
  readonly usedSearch?: string;
  /** The result of the last step, which the next page shows. */
  readonly notice?: Notice;
};

/** What Review did with the text in the search box: the tests that it added, or the text that names no test. */
export type TypedTests =
  | { readonly added: readonly string[] }
  | {
      readonly notAdded: string;
      /** The parts that name no test or several tests; empty if no part names a test. */
      readonly unknown: readonly string[];
    };

/** The content of a request when its change began. */
export type DraftBase = Pick<Draft, 'chosen' | 'clinicalDetails' | 'priority' | 'answers'> & {
  readonly version: number;
};

/** An automatic save of a review page while the user types. */
export type PageSave = {
  /** The GUID of the page; each response has a new GUID. */
  readonly page: string;
  /** Increases with each save of the page. */
  readonly sequence: number;
  /** The value of `edits` in the draft when the page was created. */
  readonly edits: number;
};

export type RepeatReason = { readonly choice: string; readonly typed: string };

export const noReason: RepeatReason = { choice: '', typed: '' };

export type Notice = {
  readonly addedSet?: string;
  /** The earlier request whose tests were chosen: its local day, YYYY-MM-DD, and the tests. */
  readonly again?: {
    readonly day: string;
    readonly codes: readonly string[];
    /** Codes of tests that were not chosen (`OrderAgain`); absent in drafts of an earlier release. */
    readonly tooSoon?: readonly string[];
    /** Names of tests of that request that the catalogue does not contain. */
    readonly missing: readonly string[];
  };
  /** Codes of tests of the set or request that were not added, because they do not apply to the patient. */
  readonly leftOut?: readonly string[];
  /** Codes of tests that were removed because a chosen panel contains them. */
  readonly takenOff?: readonly string[];
  /** Tests that were removed because an earlier request already contains them. */
  readonly used?: { readonly orderReference: string; readonly codes: readonly string[] };
  /** The result of saving or deleting an order set of the practice, with the typed name of the set. */
  readonly practiceSet?: { readonly outcome: PracticeSetOutcome; readonly name: string };
  /** The removal that the last step made. The user can undo it until the next step. */
  readonly undo?: Undo;
  readonly typed?: TypedTests;
  /** The result of an undo: `late` if the user has taken another step since the removal. */
  readonly undone?: 'done' | 'late';
  /** The result of adding favourites of the practice or the user. */
  readonly favourites?: FavouritesOutcome;
  /**
   * The version of the request on which the change was based. The change was then merged with a newer
   * version.
   */
  readonly rebasedFrom?: number;
};

/** A removal that can be undone. The id prevents an old page from undoing another removal. */
export type Undo = { readonly id: string; readonly removed: Removed };

export type Removed =
  | { readonly kind: 'tests'; readonly codes: readonly string[] }
  | { readonly kind: 'favourite' | 'practice-favourite'; readonly code: string }
  | { readonly kind: 'practice-set'; readonly set: PracticeSet };

export type FavouritesOutcome = 'shared' | 'full' | 'empty';

export type PracticeSetOutcome = 'saved' | 'deleted' | 'unnamed' | 'taken' | 'full' | 'empty' | 'gone';

/** Whether the practice collects samples now or later, or whether another place collects them. */
export type CollectionChoice = 'later' | 'now' | 'elsewhere';

/**
 * Who collects the samples, and when: the same for every laboratory, or a choice for each. If samples are
 * collected now, contains the typed person and the typed time, in the practice's local time.
 */
export type CollectionPlan =
  | { readonly when: 'later' | 'elsewhere' }
  | ({ readonly when: 'now' } & CollectionEntry)
  /** `of` contains the choices by the keys of the laboratories (`laboratoryKeyOf`). */
  | { readonly when: 'each'; readonly of: CollectionChoices; readonly entry: CollectionEntry };

export type CollectionChoices = Readonly<Record<string, CollectionChoice>>;

/** Returns the choice for a laboratory. The default is that the practice collects the samples later. */
export const choiceFor = (plan: CollectionPlan, code: Code): CollectionChoice =>
  plan.when === 'each' ? (plan.of[laboratoryKeyOf(code)] ?? 'later') : plan.when;

/** Returns the typed person and time of a plan; undefined if no samples are collected now. */
export const entryOf = (plan: CollectionPlan): CollectionEntry | undefined =>
  plan.when === 'each' ? plan.entry : plan.when === 'now' ? plan : undefined;

/** The person, date and time of a collection that a user typed. */
export type CollectionEntry = {
  readonly by: string;
  readonly date: TypedDate;
  /** The typed time, such as `14:05`. */
  readonly time: string;
};

/** Returns the empty draft of a new order. */
export const emptyDraft = (submissionId: string): Draft => ({
  submissionId,
  version: 0,
  chosen: [],
  search: '',
  clinicalDetails: '',
  priority: 'routine',
  answers: {},
  repeatReasons: {},
  repeatReason: noReason,
  overrideReasons: {},
  collection: { when: 'later' },
  edits: 0,
});

/** An unsubmitted draft of an earlier launch, and when it was last changed (ISO 8601 instant). */
export type OfferedDraft = { readonly draft: Draft; readonly changedAt: string };

/** Returns whether a draft of a new order contains a test or clinical details. */
export const hasContent = ({ chosen, clinicalDetails }: Pick<Draft, 'chosen' | 'clinicalDetails'>) =>
  chosen.length > 0 || clinicalDetails !== '';

/** Returns whether a launch with this draft may offer the draft of an earlier launch. */
export const isOffered = (draft: Draft) =>
  !hasContent(draft) && draft.restoredFrom === undefined && draft.hasDeclined === undefined;

/**
 * Returns the draft of a launch that continues an earlier draft. Omits the collection of the earlier draft,
 * because its time is not the time at which these samples are collected.
 */
export function continueDraft(own: Draft, { draft, changedAt }: OfferedDraft): Draft {
  const { notice: _notice, savedBy: _savedBy, hasDeclined: _hasDeclined, ...content } = draft;
  const { search, collection } = emptyDraft(own.submissionId);
  return { ...content, ...nextOf(own), search, collection, restoredFrom: changedAt };
}

/** Returns the empty draft after the user discarded its content. */
export const emptiedDraft = (draft: Draft): Draft => ({
  ...emptyDraft(draft.submissionId),
  ...nextOf(draft),
  hasDeclined: true,
});

/** Increases `version` and `edits`, so that an open page detects that the draft was replaced. */
const nextOf = ({ submissionId, version, edits }: Draft) => ({
  submissionId,
  version: version + 1,
  edits: edits + 1,
});

/** Returns the draft of a change to a request. The draft starts with the content of the request. */
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

/** Returns the codes that a draft adds to its request and removes from it. A new order adds all its tests. */
export function differenceOf({ chosen, base }: Pick<Draft, 'chosen' | 'base'>, catalogue: Catalogue) {
  const before = base?.chosen ?? [];
  const after = withoutCovered(chosen, catalogue);
  return {
    added: after.filter((code) => !before.includes(code)),
    removed: before.filter((code) => !after.includes(code)),
  };
}

/**
 * Applies the change in a draft to a newer version of the request that another user has stored. The result
 * adds and removes the same tests, and keeps the details and answers that the draft changed.
 */
export function rebase(draft: Draft, request: TestRequest, catalogue: Catalogue): Draft {
  const { added, removed } = differenceOf(draft, catalogue);
  const base = baseOf(request);
  const before = draft.base ?? base;
  const chosen = [...new Set([...base.chosen, ...added])].filter((code) => !removed.includes(code));
  const changedAnswers = Object.entries(draft.answers).filter(
    ([key, value]) => before.answers[key] !== value,
  );
  return {
    ...draft,
    version: draft.version + 1,
    base,
    chosen: inCatalogueOrder(withoutCovered(chosen, catalogue), catalogue),
    clinicalDetails:
      draft.clinicalDetails === before.clinicalDetails ? base.clinicalDetails : draft.clinicalDetails,
    priority: draft.priority === before.priority ? base.priority : draft.priority,
    answers: { ...base.answers, ...Object.fromEntries(changedAnswers) },
    notice: { rebasedFrom: before.version },
  };
}

/** Returns codes in the order of the catalogue. Codes that have left the catalogue come last. */
export function inCatalogueOrder(codes: readonly string[], { orderables }: Catalogue): string[] {
  const wanted = new Set(codes);
  return [
    ...[...orderables.keys()].filter((code) => wanted.has(code)),
    ...codes.filter((code) => !orderables.has(code)),
  ];
}

export const maxClinicalDetailsLength = 2000;

/**
 * Returns typed text with LF line endings, without characters that a database or a page does not accept.
 * Pasted text may separate its lines with VT, FF, NEL, LS or PS (Unicode section 5.8).
 */
export function cleanText(text: string): string {
  return withoutControls(text.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')).trim();
}

/**
 * Replaces the characters that a database or a page does not accept with blanks. Without the blanks, `dose 5`
 * and `10 mg` on two lines would become `dose 510 mg`.
 */
export const withoutControls = (text: string) => text.replace(/[^\P{Cc}\n\t]|[\uFFFE\uFFFF]/gu, ' ');

/**
 * Returns at most the first `length` UTF-16 units of a text. Does not split a surrogate pair, because a
 * database rejects half a surrogate pair.
 */
export const beginningOf = (text: string, length: number) =>
  text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

/**
 * Returns the chosen tests. Omits tests that have left the catalogue and tests that a chosen panel contains.
 */
export function chosenTests({ chosen }: Pick<Draft, 'chosen'>, catalogue: Catalogue): Orderable[] {
  return withoutCovered(chosen, catalogue).flatMap((code) => catalogue.orderables.get(code) ?? []);
}
