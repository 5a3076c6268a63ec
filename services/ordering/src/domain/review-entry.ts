import { collectionNow } from './collection-entry.ts';
import {
  type CollectionChoices,
  type CollectionEntry,
  type CollectionPlan,
  type Draft,
  entryOf,
  noReason,
  type PageSave,
  type RepeatReason,
} from './draft.ts';
import type { Priority } from './test-request.ts';

/** The typed fields of the review form. An absent field does not change the draft. */
export type ReviewEntry = {
  readonly clinicalDetails?: string;
  readonly priority?: Priority;
  /** The answers by their keys. A date has the format of `writeTypedDate`. */
  readonly answers: Readonly<Record<string, string>>;
  readonly repeatReasons: Readonly<Record<string, string>>;
  readonly repeatReason: Partial<RepeatReason>;
  /** The reasons for tests that do not apply to the patient, by the codes of the tests. */
  readonly overrideReasons: Readonly<Record<string, string>>;
  readonly cancelReason: Partial<RepeatReason>;
  readonly collection?:
    | { readonly when: 'later' | 'elsewhere' }
    | ({ readonly when: 'now' | 'each'; readonly of: CollectionChoices } & PartialCollection);
};

type PartialCollection = {
  readonly by?: string;
  readonly date: Partial<CollectionEntry['date']>;
  readonly time?: string;
};

/** A sent review form, and the state of the draft on its page. */
export type ReviewForm = {
  readonly entry: ReviewEntry;
  readonly version?: string;
  readonly draftId?: string;
  /** All fields of the form, serialised as one string. */
  readonly sent: string;
};

export type Reviewing = {
  /** The person who collects samples now, unless the form names another person. */
  readonly author: string;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name of the practice's zone */
  readonly timeZone: string;
};

/** Adds the typed fields of the review to a draft, without validating them. */
export function withEntry(before: Draft, entry: ReviewEntry, reviewing: Reviewing): Draft {
  const { savedBy: _, ...draft } = before;
  return {
    ...draft,
    edits: draft.edits + 1,
    clinicalDetails: entry.clinicalDetails ?? draft.clinicalDetails,
    priority: entry.priority ?? draft.priority,
    answers: { ...draft.answers, ...entry.answers },
    repeatReasons: { ...draft.repeatReasons, ...entry.repeatReasons },
    repeatReason: { ...draft.repeatReason, ...entry.repeatReason },
    overrideReasons: { ...draft.overrideReasons, ...entry.overrideReasons },
    cancelReason: { ...noReason, ...draft.cancelReason, ...entry.cancelReason },
    collection: collectionAfter(draft.collection, entry.collection, reviewing),
  };
}

function collectionAfter(
  before: CollectionPlan,
  entered: ReviewEntry['collection'],
  { author, now, timeZone }: Reviewing,
): CollectionPlan {
  if (entered === undefined) return before;
  if (!('of' in entered)) return entered;
  const { by, date, time } = entryOf(before) ?? collectionNow(now, author, timeZone);
  const entry = { by: entered.by ?? by, date: { ...date, ...entered.date }, time: entered.time ?? time };
  return entered.when === 'now' ? { when: 'now', ...entry } : { when: 'each', of: entered.of, entry };
}

/**
 * Decides whether to store an automatic save. Returns `late` if this save or a newer save of the same page has
 * already been stored. Returns `conflict` if the draft has changed in another way since the page was created.
 */
export function judgeSave(
  { savedBy, edits }: Pick<Draft, 'savedBy' | 'edits'>,
  save: PageSave,
): 'next' | 'late' | 'conflict' {
  if (savedBy?.page === save.page) return save.sequence > savedBy.sequence ? 'next' : 'late';
  return edits === save.edits ? 'next' : 'conflict';
}
