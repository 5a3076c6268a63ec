import { isCalendarDate } from '@clinical-launch/contracts/formats';
import { writtenDate } from '@clinical-launch/contracts/time';
import type { Answer } from '../domain/test-request.ts';

/** Returns an answer in the format of pages. A stored day (YYYY-MM-DD) becomes `28 February 2026`. */
export const writtenAnswer = ({ text, answer }: Answer) => ({
  text,
  answer: isCalendarDate(answer) ? writtenDate(answer) : answer,
});
