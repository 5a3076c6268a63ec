import { setTimeout as delay } from 'node:timers/promises';
import type { Lookup } from '../store/documents.ts';

const pollEveryMs = 50;

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
  for (;;) {
    const isLastLook = signal.aborted;
    const lookup = await look();
    const isSettled = lookup.outcome === 'found' || (lookup.outcome === 'foreign' && !mayFollowOthers);
    if (isSettled || isLastLook) return lookup;
    await delay(pollEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
