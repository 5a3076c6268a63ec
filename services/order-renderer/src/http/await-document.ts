import { pause } from '@clinical-launch/runtime/clock';

/**
 * The first interval is short, because most documents are created quickly. The intervals grow, so that a long
 * wait needs few queries.
 */
const firstIntervalMs = 50;
const growth = 3;

/**
 * Queries for a document until it exists. When the signal aborts, queries a last time. A wait of ten seconds
 * takes seven queries.
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
