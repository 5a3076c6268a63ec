import { isCalendarDate } from '@clinical-launch/contracts';
import type { Orderable, Question } from './catalogue.ts';
import { cleanText } from './draft.ts';
import { readTypedDate } from './typed-date.ts';

/** A question as it is asked once for all the tests that ask it; required when any of them requires it. */
export type AskedQuestion = {
  readonly question: Question;
  readonly tests: readonly Orderable[];
  readonly isRequired: boolean;
};

/** The longest answer, and the longest reason for a repeat. */
export const maxAnswerLength = 200;

/** What these tests ask, in their order. */
export function askedBy(tests: readonly Orderable[]): AskedQuestion[] {
  const asked = new Map<Question, AskedQuestion>();
  for (const test of tests) {
    for (const { question, isRequired } of test.asks) {
      const known = asked.get(question) ?? { question, tests: [], isRequired: false };
      asked.set(question, {
        question,
        tests: [...known.tests, test],
        isRequired: known.isRequired || isRequired,
      });
    }
  }
  return [...asked.values()];
}

/** An answer as it is kept, empty when the question was left open; or what is wrong with it. */
export type AnswerReading = { readonly answer: string } | { readonly message: string };

/**
 * Reads a typed answer: one of the options in their words, a day as YYYY-MM-DD, or a line of text.
 * @param typed as the draft has it; a date as `writeTypedDate` writes it
 * @param today YYYY-MM-DD where the practice is
 */
export function readAnswer(asked: AskedQuestion, typed: string, today: string): AnswerReading {
  const { question, isRequired } = asked;
  const answer = cleanText(typed).replace(/\s+/g, ' ');
  if (/^[\s-]*$/.test(answer)) {
    return isRequired ? { message: missing(question) } : { answer: '' };
  }
  switch (question.kind) {
    case 'choice':
      return question.options?.includes(answer) === true ? { answer } : { message: missing(question) };
    case 'date':
      return readDay(question, answer, today);
    case 'text':
      return answer.length <= maxAnswerLength
        ? { answer }
        : { message: `${quoted(question)} must be ${maxAnswerLength} characters or fewer` };
  }
}

function readDay(question: Question, typed: string, today: string): AnswerReading {
  const { day, month, year } = readTypedDate(typed);
  const written = `${year.trim()}-${month.trim().padStart(2, '0')}-${day.trim().padStart(2, '0')}`;
  if (!isCalendarDate(written)) return { message: `${quoted(question)} must be a real date` };
  if (written > today) return { message: `${quoted(question)} must be today or in the past` };
  return { answer: written };
}

function missing(question: Question): string {
  switch (question.kind) {
    case 'choice':
      return `Select an answer to ${quoted(question)}`;
    case 'date':
      return `Enter a date for ${quoted(question)}`;
    case 'text':
      return `Enter an answer to ${quoted(question)}`;
  }
}

const quoted = ({ text }: Question) => `“${text}”`;
