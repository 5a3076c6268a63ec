import { pause } from '@clinical-launch/runtime/time-out';

/**
 * The first query comes soon, because most documents are created quickly; the intervals grow, so that a wait
 * costs few queries.
 */
const firstIntervalMs = 50;
const growth = 3;

/**
 * Queries for a document until it exists or the signal ends the wait, then queries a last time. A wait of ten
 * seconds takes seven queries.
 */
export async function awaitDocument<Document>(
  look: () => Promise<Document | undefined>,
  signal: AbortSignal,
): Promise<Document | undefined> {
  for (let intervalMs = firstIntervalMs; ; intervalMs *= growth) {
    const isLastLook = signal.aborted;
    const document = await look();
    if (document !== undefined || isLastLook) return document;
    await pause(intervalMs, signal);
  }
}
