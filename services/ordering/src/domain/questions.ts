import { isCalendarDate } from '@clinical-launch/contracts/formats';
import { isFor, type PatientTraits } from './applies-to.ts';
import type { Catalogue, Orderable, Question } from './catalogue.ts';
import { daysBetween, monthTyped, notKnown, readTypedDate } from './days.ts';
import { cleanText } from './draft.ts';
import { isLive } from './lifecycle.ts';
import { type Answer, codeOf, liveCodes, type RequestedBatch, type TestRequest } from './test-request.ts';

/**
 * A question on the review, asked once for all tests that need the answer, or once for each test. It is
 * required if one of its tests requires the answer.
 */
export type AskedQuestion = {
  readonly question: Question;
  /** The key of the answer (`answerKey`). */
  readonly key: string;
  /** The text on the page, with the name of the test if the question is asked for each test. */
  readonly text: string;
  readonly tests: readonly Orderable[];
  readonly isRequired: boolean;
};

/** The maximum length of an answer, and of a reason for a repeat. */
export const maxAnswerLength = 200;

/** Returns the questions of these tests about a patient. Required questions come first. */
export function askedBy(tests: readonly Orderable[], patient: PatientTraits): AskedQuestion[] {
  const asked = new Map<string, AskedQuestion>();
  for (const test of tests) {
    for (const { question, isRequired } of test.asks) {
      if (!isFor(question, patient)) continue;
      const key = answerKey(question, test);
      const text = question.perTest === true ? `${question.text} (${test.name})` : question.text;
      const known = asked.get(key) ?? { tests: [], isRequired: false };
      asked.set(key, {
        question,
        key,
        text,
        tests: [...known.tests, test],
        isRequired: known.isRequired || isRequired,
      });
    }
  }
  return [...asked.values()].toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

/** Returns the key of an answer: the question's id, and for a question per test, also the test's code. */
export const answerKey = ({ id, perTest }: Question, { code }: Pick<Orderable, 'code'>) =>
  perTest === true ? `${id}:${code}` : id;

/** The answer to store, or the error message. Without an answer from the user, `answer` is empty. */
type AnswerReading = { readonly answer: string } | { readonly message: string };

/**
 * Reads a typed answer. The result is the text of an option, a day as YYYY-MM-DD, `notKnown`, or a line of text.
 * @param typed the answer in the draft; a date in the format of `writeTypedDate`
 * @param today YYYY-MM-DD at the practice
 */
export function readAnswer(asked: AskedQuestion, typed: string, today: string): AnswerReading {
  const { question, isRequired } = asked;
  const answer = cleanText(typed).replace(/\s+/g, ' ');
  if (/^[\s-]*$/.test(answer)) {
    return isRequired ? { message: missing(asked) } : { answer: '' };
  }
  switch (question.kind) {
    case 'choice':
      return question.options?.includes(answer) === true ? { answer } : { message: missing(asked) };
    case 'date':
      return readDay(asked, answer, today);
    case 'text':
      return answer.length <= maxAnswerLength
        ? { answer }
        : { message: `${quoted(asked)} must be ${maxAnswerLength} characters or fewer` };
  }
}

function readDay(asked: AskedQuestion, typed: string, today: string): AnswerReading {
  const { day, month, year, isUnknown } = readTypedDate(typed);
  if (isUnknown && asked.question.mustBeKnown !== true) {
    if (typed === notKnown) return { answer: notKnown };
    return { message: `Enter a date for ${quoted(asked)} or select ${notKnown}, not both` };
  }
  const written = `${year.trim()}-${monthTyped(month)}-${day.trim().padStart(2, '0')}`;
  if (!isCalendarDate(written)) return { message: `${quoted(asked)} must be a real date` };
  if (written > today) return { message: `${quoted(asked)} must be today or in the past` };
  const { withinWeeks } = asked.question;
  if (withinWeeks !== undefined && daysBetween(written, today) > withinWeeks * 7) {
    return { message: `${quoted(asked)} must be within the last ${withinWeeks} weeks` };
  }
  return { answer: written };
}

function missing(asked: AskedQuestion): string {
  switch (asked.question.kind) {
    case 'choice':
      return `Select an answer to ${quoted(asked)}`;
    case 'date':
      return `Enter a date for ${quoted(asked)}${asked.question.mustBeKnown === true ? '' : `, or select ${notKnown}`}`;
    case 'text':
      return `Enter an answer to ${quoted(asked)}`;
  }
}

const quoted = ({ text }: AskedQuestion) => `“${text}”`;

/**
 * Returns the answers to the questions that one laboratory's tests ask. If the catalogue has changed and no
 * test of the request asks a question any more, every laboratory receives the answer.
 */
export function answersFor(
  { tests }: Pick<RequestedBatch, 'tests'>,
  request: Pick<TestRequest, 'batches' | 'answers'>,
  catalogue: Pick<Catalogue, 'orderables'>,
): Answer[] {
  const own = keysAskedBy(tests.filter(isLive).map(codeOf), catalogue);
  const all = keysAskedBy(liveCodes(request), catalogue);
  return request.answers.filter(({ question }) => own.has(question) || !all.has(question));
}

function keysAskedBy(codes: readonly string[], { orderables }: Pick<Catalogue, 'orderables'>): Set<string> {
  const tests = codes.flatMap((code) => orderables.get(code) ?? []);
  return new Set(tests.flatMap((test) => test.asks.map(({ question }) => answerKey(question, test))));
}
