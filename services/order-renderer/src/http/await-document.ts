import { setTimeout as delay } from 'node:timers/promises';
import type { Lookup } from '../store/documents.ts';

/** The first look comes soon, for a document is made in no time; whoever waits for one that never comes asks seldom. */
const firstLookAgainMs = 50;
const longestBetweenLooksMs = 800;

type AwaitOptions = {
  /** Ends the waiting; there is one last look after it. */
  readonly signal: AbortSignal;
  /** Whether this launch may yet make a document of an order that other launches made documents of. */
  readonly mayFollowOthers: boolean;
};

/** Looks for a document until it is there, cannot come any more, or the signal ends the waiting. */
export async function awaitDocument(
  look: () => Promise<Lookup>,
  { signal, mayFollowOthers }: AwaitOptions,
): Promise<Lookup> {
  for (let waitMs = firstLookAgainMs; ; waitMs = Math.min(waitMs * 2, longestBetweenLooksMs)) {
    const isLastLook = signal.aborted;
    const lookup = await look();
    const isSettled = lookup.outcome === 'found' || (lookup.outcome === 'foreign' && !mayFollowOthers);
    if (isSettled || isLastLook) return lookup;
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
  }
}
