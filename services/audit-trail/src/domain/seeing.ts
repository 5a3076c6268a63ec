import { whatWasSeen } from './event-words.ts';
import type { LogEntry } from './log-entry.ts';

/** What one user, at one practice and through one client, saw of a patient. */
export type Seeing = {
  readonly user: string | null;
  readonly userDisplay: string | null;
  readonly practice: string | null;
  readonly practiceName: string | null;
  readonly client: string | null;
  readonly first: Date;
  readonly last: Date;
  /** How often, by what. */
  readonly counts: ReadonlyMap<string, number>;
};

/** Who did something, of an event. */
export type SeenEvent = Pick<
  LogEntry,
  'type' | 'time' | 'user' | 'userDisplay' | 'practice' | 'practiceName' | 'client'
>;

/** Groups events by user, practice and client; those who saw the patient last come first. */
export function seeingsOf(events: readonly SeenEvent[]): readonly Seeing[] {
  const byUser = Map.groupBy(events, ({ user, practice, client }) =>
    JSON.stringify([user?.toLowerCase() ?? null, practice, client]),
  );
  return [...byUser.values()]
    .flatMap(seeingOf)
    .toSorted((one, other) => other.last.getTime() - one.last.getTime());
}

function seeingOf(events: readonly SeenEvent[]): Seeing[] {
  const ordered = events.toSorted((one, other) => one.time.getTime() - other.time.getTime());
  const [first] = ordered;
  const last = ordered.at(-1);
  if (first === undefined || last === undefined) return [];
  const counts = new Map<string, number>();
  for (const { type } of ordered) {
    const what = whatWasSeen(type) ?? type;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const { user, practice, client } = first;
  const userDisplay = ordered.find((event) => event.userDisplay !== null)?.userDisplay ?? null;
  const practiceName = ordered.find((event) => event.practiceName !== null)?.practiceName ?? null;
  return [{ user, userDisplay, practice, practiceName, client, first: first.time, last: last.time, counts }];
}
