import { isCalendarDate } from '@clinical-launch/contracts/formats';
import { writtenDate } from '@clinical-launch/contracts/written-time';
import type { Answer } from '../domain/test-request.ts';

/** Returns an answer as pages show it: writes out a day, which is stored as YYYY-MM-DD. */
export const writtenAnswer = ({ text, answer }: Answer) => ({
  text,
  answer: isCalendarDate(answer) ? writtenDate(answer) : answer,
});
