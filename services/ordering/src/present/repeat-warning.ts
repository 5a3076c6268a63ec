import type { Orderable } from '../domain/catalogue.ts';
import { fullName } from '../domain/person-name.ts';
import type { EarlierTest, Repeat } from '../domain/repeats.ts';
import { writtenDate } from './written-time.ts';

/** Describes by whom and when a test was requested, its current state, and when it is usually repeated. */
export function describeRepeat({ test, latest, day, daysAgo, minimumIntervalDays }: Repeat): string {
  const requested = `${nameOf(test, latest)} was requested on ${writtenDate(day)} (${ago(daysAgo)})`;
  const subject = test.covers.includes(latest.code) ? test.name : 'It';
  return `${requested} by ${fullName(latest.requester)}: ${stateOf(latest)}. ${subject} is usually repeated after ${counted(minimumIntervalDays)} at the earliest.`;
}

function nameOf({ code, name, covers }: Orderable, latest: EarlierTest): string {
  if (latest.code === code) return name;
  return covers.includes(latest.code)
    ? `${latest.description} (part of ${name})`
    : `${name} (in ${latest.description})`;
}

function stateOf({ isSampleTaken, container, provider }: EarlierTest): string {
  if (isSampleTaken) return 'sample taken';
  return container === undefined ? `sent to ${provider}` : 'sample not taken yet';
}

const ago = (days: number) => (days === 0 ? 'today' : `${counted(days)} ago`);

const counted = (days: number) => `${days} ${days === 1 ? 'day' : 'days'}`;
