import { isCalendarDate } from '@clinical-launch/contracts/formats';
import type { Answer } from '../domain/test-request.ts';
import { writtenDate } from './written-time.ts';

/** Returns an answer as pages show it: writes out a day, which is stored as YYYY-MM-DD. */
export const writtenAnswer = ({ text, answer }: Answer) => ({
  text,
  answer: isCalendarDate(answer) ? writtenDate(answer) : answer,
});
