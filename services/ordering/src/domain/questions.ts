import { isCalendarDate } from '@clinical-launch/contracts';
import type { Orderable, Question } from './catalogue.ts';
import { cleanText } from './draft.ts';
import { readTypedDate } from './typed-date.ts';

/** A question, asked once for all tests that need it; required if any of them requires it. */
export type AskedQuestion = {
  readonly question: Question;
  readonly tests: readonly Orderable[];
  readonly isRequired: boolean;
};

/** The maximum length of an answer, and of a reason for a repeat. */
export const maxAnswerLength = 200;

/** Returns the questions of these tests, in order. */
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

/** An answer as it is stored, empty if the question was left open; or the error message. */
export type AnswerReading = { readonly answer: string } | { readonly message: string };

/**
 * Reads a typed answer: the text of one of the options, a day as YYYY-MM-DD, or a line of text.
 * @param typed as in the draft; a date as `writeTypedDate` writes it
 * @param today YYYY-MM-DD at the practice
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
