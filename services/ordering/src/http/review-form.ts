import { guidForm, withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Catalogue, Question } from '../domain/catalogue.ts';
import { notKnown, writeTypedDate } from '../domain/days.ts';
import { beginningOf, type CollectionChoice, cleanText, maxClinicalDetailsLength } from '../domain/draft.ts';
import { answerKey, maxAnswerLength } from '../domain/questions.ts';
import { laboratoryKeyOf } from '../domain/request-search.ts';
import type { ReviewEntry, ReviewForm } from '../domain/review-entry.ts';
import type { Priority } from '../domain/test-request.ts';
import { faultyForm } from '../errors.ts';
import type { ReviewSave } from '../work/autosave-review.ts';

/** The action of a button on the review. */
export type ReviewAction =
  | { readonly kind: 'submit' | 'check' | 'back' }
  | { readonly kind: 'remove'; readonly codes: readonly string[] }
  | { readonly kind: 'use'; readonly orderReference: string };

/**
 * Reads the form of the review.
 * @throws ServiceError 400 for a value of `action`, `submission`, `priority` or `collect` that no page sends
 */
export function readReviewForm(
  form: URLSearchParams,
  catalogue: Catalogue,
): ReviewForm & { readonly action: ReviewAction } {
  const version = form.get('version');
  const draftId = form.get('submission');
  if (draftId !== null && !guidForm.test(draftId)) throw faultyForm();
  const action = readAction(form.get('action'));
  const sent = new URLSearchParams(form);
  // The buttons “Submit” and “Submit and print” make the same submission.
  if (action.kind === 'submit') sent.set('action', 'submit');
  return {
    action,
    entry: readEntry(form, catalogue),
    sent: sent.toString(),
    ...(version === null ? {} : { version }),
    ...(draftId === null ? {} : { draftId }),
  };
}

/**
 * Reads the form that a script sends while the user types.
 * @throws ServiceError 400 if `page`, `sequence` or `edits` is missing or invalid, or for an unknown value of
 *   `priority` or `collect`
 */
export function readReviewSave(form: URLSearchParams, catalogue: Catalogue): ReviewSave {
  const draftId = form.get('submission');
  const page = form.get('page') ?? '';
  const number = (name: string) => (/^\d{1,9}$/.test(form.get(name) ?? '') ? Number(form.get(name)) : NaN);
  const [sequence, edits] = [number('sequence'), number('edits')];
  if (!guidForm.test(page) || Number.isNaN(sequence + edits)) throw faultyForm();
  return {
    entry: readEntry(form, catalogue),
    save: { page, sequence, edits },
    ...(draftId === null ? {} : { draftId }),
  };
}

function readAction(value: string | null): ReviewAction {
  const [, kind, codes, orderReference] =
    /^(?:(submit|submit-and-print|check|back)|remove:([A-Za-z0-9,-]{1,1000})|use:([A-Z0-9-]{1,40}))$/.exec(
      value ?? '',
    ) ?? [];
  if (codes !== undefined) return { kind: 'remove', codes: codes.split(',') };
  if (orderReference !== undefined) return { kind: 'use', orderReference };
  if (kind === 'check' || kind === 'back') return { kind };
  if (kind !== undefined) return { kind: 'submit' };
  throw faultyForm();
}

function readEntry(form: URLSearchParams, catalogue: Catalogue): ReviewEntry {
  const details = form.get('details');
  const priority = readPriority(form.get('priority'));
  const collection = readCollection(form, catalogue);
  return {
    ...(details === null ? {} : { clinicalDetails: bounded(details, maxClinicalDetailsLength) }),
    ...withoutUndefined({ priority, collection }),
    answers: given(answerKeys(catalogue).map(([key, kind]) => [key, typedAnswer(form, key, kind)])),
    repeatReasons: typedByTest(form, 'reason', catalogue),
    repeatReason: typedReason(form, 'repeat-reason'),
    cancelReason: typedReason(form, 'cancel-reason'),
    overrideReasons: typedByTest(form, 'override', catalogue),
  };
}

/** Keeps up to ten times the maximum length, so that a user who typed too much can shorten the text. */
const bounded = (text: string, length: number) => beginningOf(cleanText(text), length * 10);

const given = (entries: readonly (readonly [string, string | undefined])[]) =>
  Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));

const typedByTest = (form: URLSearchParams, name: string, { orderables }: Catalogue) =>
  given([...orderables.keys()].map((code) => [code, typedLine(form, `${name}:${code}`)]));

const typedReason = (form: URLSearchParams, name: string) =>
  given([
    ['choice', typedLine(form, name)],
    ['typed', typedLine(form, `${name}-text`)],
  ]);

function typedLine(form: URLSearchParams, name: string): string | undefined {
  const typed = form.get(name);
  return typed === null ? undefined : bounded(typed, maxAnswerLength);
}

function answerKeys({ orderables }: Catalogue): [string, Question['kind']][] {
  const asked = [...orderables.values()].flatMap((test) =>
    test.asks.map(({ question }): [string, Question['kind']] => [answerKey(question, test), question.kind]),
  );
  return [...new Map(asked)];
}

function typedAnswer(form: URLSearchParams, key: string, kind: Question['kind']): string | undefined {
  const name = `answer:${key}`;
  if (kind !== 'date') return typedLine(form, name);
  const part = (of: 'day' | 'month' | 'year') => form.get(`${name}-${of}`);
  const [day, month, year] = [part('day'), part('month'), part('year')];
  if (day === null && month === null && year === null) return undefined;
  return writeTypedDate({
    day: boundedPart(day),
    month: boundedPart(month),
    year: boundedPart(year),
    isUnknown: form.get(name) === notKnown,
  });
}

const boundedPart = (typed: string | null) => beginningOf(cleanText(typed ?? ''), 20);

function readPriority(value: string | null): Priority | undefined {
  if (value === null || value === 'routine' || value === 'urgent') return value ?? undefined;
  throw faultyForm();
}

function readChoice(value: string): CollectionChoice {
  if (value === 'later' || value === 'now' || value === 'elsewhere') return value;
  throw faultyForm();
}

function readCollection(form: URLSearchParams, { locations }: Catalogue): ReviewEntry['collection'] {
  const when = form.get('collect');
  if (when === null) return undefined;
  if (when === 'later' || when === 'elsewhere') return { when };
  if (when !== 'now' && when !== 'each') throw faultyForm();
  const typed = (name: string) => typedLine(form, `collected-${name}`);
  const [by, time] = [typed('by'), typed('time')];
  return {
    when,
    of: Object.fromEntries(
      locations.flatMap(({ code }) => {
        const choice = form.get(`collect:${laboratoryKeyOf(code)}`);
        return choice === null ? [] : [[laboratoryKeyOf(code), readChoice(choice)]];
      }),
    ),
    ...withoutUndefined({ by }),
    date: given(['day', 'month', 'year'].map((part) => [part, typed(part)])),
    ...withoutUndefined({ time }),
  };
}
