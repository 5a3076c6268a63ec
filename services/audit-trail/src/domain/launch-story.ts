import { openedTypes } from './activity.ts';
import { type AuditEntry, factOf, numberOf } from './audit-entry.ts';
import { launchTypes } from './audit-row.ts';
import { getFaultWords } from './fault-words.ts';

/** The result of a launch or request, in plain words. */
export type Verdict = {
  readonly kind: 'good' | 'waiting' | 'bad';
  readonly title: string;
  readonly text: string;
  /** The advice for the person who contacts the support desk. */
  readonly advice: string;
};

/** Sorts entries by time. */
export const inOrder = (entries: readonly AuditEntry[]): readonly AuditEntry[] =>
  entries.toSorted((one, other) => one.time.getTime() - other.time.getTime());

/** Returns the GUID of the launch that a request belongs to, if it differs from the request's own GUID. */
export const launchNamedIn = (entries: readonly AuditEntry[], guid: string): string | undefined =>
  entries.find((one) => one.correlationId === guid && one.launchId !== null && one.launchId !== guid)
    ?.launchId ?? undefined;

/** Returns the verdict on a launch or request. @param now milliseconds since 1970 */
export function verdictOf(entries: readonly AuditEntry[], now: number): Verdict {
  const ordered = inOrder(entries);
  const issued = ordered.find(({ type }) => launchTypes.includes(type));
  const opened = ordered.find(({ type }) => openedTypes.includes(type));
  const faults = ordered.filter(({ outcome }) => outcome !== 'success');
  const worst = faults.at(-1);
  const endedByOperator = ordered.findLast(({ reason }) => reason === 'ended_by_operator');
  if (endedByOperator !== undefined) return endedVerdict(endedByOperator);
  if (issued === undefined) return worst === undefined ? served(ordered) : refusedVerdict(worst);
  if (opened === undefined) return unopened(issued, faults, now);
  const took = writtenDuration(opened.time.getTime() - issued.time.getTime());
  if (worst === undefined) return openedWell(ordered, took);
  const words = getFaultWords(worst);
  return {
    kind: worst.outcome === 'failed' ? 'bad' : 'waiting',
    title: 'The launch was opened, but a later request was refused',
    text: `It was opened after ${took}. ${words.cause}`,
    advice: words.advice,
  };
}

function openedWell(ordered: readonly AuditEntry[], took: string): Verdict {
  const ended = ordered.findLast(({ type }) => type === 'desktop.chain.revoked.v1');
  if (ended !== undefined) return endedVerdict(ended);
  const isSubmitted = ordered.some(({ type }) => type === 'order.submitted.v1');
  return {
    kind: 'good',
    title: isSubmitted ? 'The launch worked and tests were submitted' : 'The launch worked',
    text: `It was opened after ${took}.`,
    advice: isSubmitted
      ? 'The order was received. Give the caller the order reference below if they need it.'
      : 'If the user cannot see the launch, ask them to look for its window or start again.',
  };
}

function endedVerdict(ended: AuditEntry): Verdict {
  const { cause, advice } = getFaultWords(ended);
  return { kind: 'waiting', title: 'The launch was ended', text: cause, advice };
}

function unopened(issued: AuditEntry, faults: readonly AuditEntry[], now: number): Verdict {
  const ttlSeconds = numberOf(issued, 'ttlSeconds') ?? 0;
  const endsAt = issued.time.getTime() + ttlSeconds * 1000;
  const within = `within ${ttlSeconds} seconds`;
  const late = faults.findLast(({ time, reason }) => reason === 'token_unknown' && time.getTime() > endsAt);
  if (late !== undefined) {
    const after = writtenDuration(late.time.getTime() - issued.time.getTime());
    return {
      kind: 'bad',
      title: 'The launch was opened too late',
      text: `It had to be opened ${within}, and the browser opened it after ${after}.`,
      advice: getFaultWords(late).advice,
    };
  }
  const worst = faults.at(-1);
  if (worst !== undefined) return refusedVerdict(worst);
  if (now <= endsAt) {
    return {
      kind: 'waiting',
      title: 'The launch has not been opened yet',
      text: `It can be opened ${within} of its request.`,
      advice: 'Reload this page in a few seconds.',
    };
  }
  return {
    kind: 'bad',
    title: 'The launch was never opened',
    text: `It expired, because no browser opened it ${within}.`,
    advice:
      'Start again from the practice system. If it happens again, check whether the practice system opens the browser, and whether the computer blocks pop-ups.',
  };
}

function refusedVerdict(entry: AuditEntry): Verdict {
  const { cause, advice } = getFaultWords(entry);
  const count = numberOf(entry, 'count') ?? 1;
  const often = count > 1 ? ` There were ${count} requests like it from the same address.` : '';
  return {
    kind: 'bad',
    title: entry.outcome === 'failed' ? 'The request failed' : 'The request was refused',
    text: cause + often,
    advice,
  };
}

function served(ordered: readonly AuditEntry[]): Verdict {
  const searched = ordered.find(({ type }) => type === 'audit.searched.v1');
  return {
    kind: 'good',
    title: searched === undefined ? 'The request was answered' : 'A search of this audit trail',
    text: 'Nothing was refused.',
    advice: 'There is nothing to do.',
  };
}

/** Formats a duration in a suitable unit: `24 milliseconds`, `1.4 seconds`, `12 minutes`. */
export function writtenDuration(milliseconds: number): string {
  const all = Math.max(0, Math.round(milliseconds));
  if (all === 0) return 'under 1 millisecond';
  if (all < 1000) return counted(all, 'millisecond');
  if (all < 120_000)
    return counted(all < 10_000 ? Math.round(all / 100) / 10 : Math.round(all / 1000), 'second');
  return all < 7_200_000
    ? counted(Math.round(all / 60_000), 'minute')
    : counted(Math.round(all / 3_600_000), 'hour');
}

const counted = (count: number | string, word: string): string =>
  `${count} ${Number(count) === 1 ? word : `${word}s`}`;

/** A fault of a payload in an entry: its path, and its code, which is empty in old entries. */
export type PayloadFault = { readonly path: string; readonly code: string };

/** Returns the faults of the payload that an entry lists. */
export function payloadFaultsOf({ event: { data } }: Pick<AuditEntry, 'event'>): readonly PayloadFault[] {
  const [paths, codes] = ['paths', 'codes'].map((name) => {
    const list: unknown = Object.entries(data).find(([key]) => key === name)?.[1];
    return Array.isArray(list) ? list.map(String) : [];
  });
  return (paths ?? []).map((path, at) => ({ path: path || 'the whole body', code: codes?.[at] ?? '' }));
}

/** Describes the details of an event, such as the number of tests. Returns undefined if it has no details. */
export function detailOf(entry: AuditEntry): string | undefined {
  const paths = payloadFaultsOf(entry).map(({ path }) => path);
  const facts = [
    paths.length === 0 ? undefined : `Faults at ${paths.slice(0, 10).join(', ')}`,
    fact(entry, 'tests', (count) => counted(count, 'test')),
    fact(entry, 'orders', (count) => `${counted(count, 'request')} on the page`),
    fact(entry, 'what', (what) => (what === 'form' ? 'Request form' : 'Sample labels')),
    fact(entry, 'resource', (resource) => `Resource: ${resource}`),
    fact(entry, 'attempts', (count) => `Attempt ${count}`),
    fact(entry, 'searchedId', (id) => `Searched for ${id}`),
    fact(entry, 'statedReason', (reason) => `Reason: ${reason}`),
    entry.source === '/operator' ? fact(entry, 'by', (by) => `By ${by}`) : undefined,
    fact(entry, 'count', (count) => (count === '1' ? undefined : `${count} requests together`)),
  ];
  const given = facts.filter((one) => one !== undefined);
  return given.length === 0 ? undefined : given.join('. ');
}

const fact = (
  entry: AuditEntry,
  name: string,
  write: (value: string) => string | undefined,
): string | undefined => {
  const value = factOf(entry, name);
  return value === undefined ? undefined : write(value);
};
