import { setTimeout as delay } from 'node:timers/promises';

/**
 * The first look comes soon, since most documents are made at once; the intervals grow, so that a wait costs few
 * queries.
 */
const firstIntervalMs = 50;
const growth = 3;

/**
 * Looks for a document until it is there or the signal ends the wait, with one last look after that. A wait of ten
 * seconds takes seven looks.
 */
export async function awaitDocument<Document>(
  look: () => Promise<Document | undefined>,
  signal: AbortSignal,
): Promise<Document | undefined> {
  for (let intervalMs = firstIntervalMs; ; intervalMs *= growth) {
    const isLastLook = signal.aborted;
    const document = await look();
    if (document !== undefined || isLastLook) return document;
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}
