import type { Catalogue, Question } from '../domain/catalogue.ts';
import { collectionNow } from '../domain/collection-entry.ts';
import {
  beginningOf,
  type CollectionEntry,
  type CollectionPlan,
  cleanText,
  type Draft,
  maxClinicalDetailsLength,
} from '../domain/draft.ts';
import { maxAnswerLength } from '../domain/questions.ts';
import type { Priority } from '../domain/test-request.ts';
import { faultyForm } from '../errors.ts';

/** What a button of the review asks for. */
export type ReviewAction =
  | { readonly kind: 'submit' | 'check' | 'back' }
  | { readonly kind: 'remove'; readonly code: string };

/**
 * Reads the button of the review.
 * @throws ServiceError 400 when no page of ours has it.
 */
export function readReviewAction(value: string | null): ReviewAction {
  const [, kind, code] = /^(?:(submit|check|back)|remove:([A-Za-z0-9-]{1,40}))$/.exec(value ?? '') ?? [];
  if (code !== undefined) return { kind: 'remove', code };
  if (kind === 'submit' || kind === 'check' || kind === 'back') return { kind };
  throw faultyForm();
}

export type ReviewFormNeeds = {
  readonly catalogue: Catalogue;
  /** Who takes a sample now, when the form does not say. */
  readonly author: string;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  readonly timeZone: string;
};

/**
 * The draft with what was typed on the review, kept as typed: whether it will do is decided afterwards. A field that
 * the form does not have leaves the draft as it is.
 * @throws ServiceError 400 for a priority or a time of collection that no page of ours offers.
 */
export function withTyped(draft: Draft, form: URLSearchParams, needs: ReviewFormNeeds): Draft {
  const details = form.get('details');
  const { catalogue } = needs;
  const reasons = [...catalogue.orderables.keys()].map((code): [string, string | undefined] => [
    code,
    typedLine(form, `reason:${code}`),
  ]);
  const answers = [...catalogue.questions.values()].map((question): [string, string | undefined] => [
    question.id,
    typedAnswer(form, question),
  ]);
  return {
    ...draft,
    clinicalDetails: details === null ? draft.clinicalDetails : bounded(details, maxClinicalDetailsLength),
    priority: readPriority(form.get('priority')) ?? draft.priority,
    answers: { ...draft.answers, ...given(answers) },
    repeatReasons: { ...draft.repeatReasons, ...given(reasons) },
    collection: readCollection(form, draft.collection, needs),
  };
}

/** Beyond this nobody typed it; up to here it is kept, so that it can be shortened. */
const bounded = (text: string, length: number) => beginningOf(cleanText(text), length * 10);

const given = (entries: readonly (readonly [string, string | undefined])[]) =>
  Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));

function typedLine(form: URLSearchParams, name: string): string | undefined {
  const typed = form.get(name);
  return typed === null ? undefined : bounded(typed, maxAnswerLength);
}

function typedAnswer(form: URLSearchParams, { id, kind }: Question): string | undefined {
  const name = `answer:${id}`;
  if (kind !== 'date') return typedLine(form, name);
  const parts = ['year', 'month', 'day'].map((part) => form.get(`${name}-${part}`));
  if (parts.every((part) => part === null)) return undefined;
  // The dashes stand between the parts.
  return parts.map((part) => typedPart(part ?? '')).join('-');
}

const typedPart = (text: string) => beginningOf(cleanText(text).replaceAll('-', ' '), 20);

function readPriority(value: string | null): Priority | undefined {
  if (value === null || value === 'routine' || value === 'urgent') return value ?? undefined;
  throw faultyForm();
}

function readCollection(
  form: URLSearchParams,
  before: CollectionPlan,
  { author, now, timeZone }: ReviewFormNeeds,
): CollectionPlan {
  const when = form.get('collect');
  if (when === null) return before;
  if (when === 'later') return { when };
  if (when !== 'now') throw faultyForm();
  const entry: CollectionEntry = before.when === 'now' ? before : collectionNow(now, author, timeZone);
  const typed = (name: string, otherwise: string) => typedLine(form, `collected-${name}`) ?? otherwise;
  return {
    when,
    by: typed('by', entry.by),
    date: {
      day: typed('day', entry.date.day),
      month: typed('month', entry.date.month),
      year: typed('year', entry.date.year),
    },
    time: typed('time', entry.time),
  };
}
