import type { Reported } from './registry-command.ts';

type Ending = { readonly expires?: string };

/**
 * Returns a list with the old secret and its new expiry, or an empty list if no old secret remains live.
 * @throws Error if an old secret is to be kept and two secrets are live, because a registration can keep only
 *   one old secret
 */
export function keptSecrets<Secret extends Ending>(
  secrets: readonly Secret[],
  { now, endsAt }: { readonly now: number; readonly endsAt: number },
): Secret[] {
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  if (endsAt <= now) return [];
  const [old, ...more] = live;
  if (more.length > 0) {
    const ends = live.map(({ expires }) => expires).find((expires) => expires !== undefined);
    throw new Error(
      `Two secrets are live${ends === undefined ? '' : `, one until ${ends}`}. Use --keep-old-hours 0 to end both at once`,
    );
  }
  if (old === undefined) return [];
  const end = Math.min(endsAt, old.expires === undefined ? endsAt : Date.parse(old.expires));
  return [{ ...old, expires: new Date(end).toISOString() }];
}

/** Reports when the new secret starts to work, and when the old secret expires. */
export const reportEnds = ([old]: readonly Ending[]): Reported => [
  ['new secret works', 'within seconds, once the services have read the file'],
  ['old secret works until', old?.expires ?? 'now'],
];

/** Returns the expiry of each live secret as a text for people: `until 2026-11-26T09:00:00.000Z, no end`. */
export function writtenEnds(secrets: readonly Ending[], now: number): string {
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  const ends = live.map(({ expires }) => (expires === undefined ? 'no end' : `until ${expires}`));
  return ends.join(', ') || 'ended';
}
