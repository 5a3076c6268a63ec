import { isCalendarDate } from '@clinical-launch/contracts';
import type { Answer } from '../domain/test-request.ts';
import { writtenDate } from './written-time.ts';

/** Writes an answer as pages show it: a day, which is stored as YYYY-MM-DD, is written out. */
export const writtenAnswer = ({ text, answer }: Answer) => ({
  text,
  answer: isCalendarDate(answer) ? writtenDate(answer) : answer,
});
