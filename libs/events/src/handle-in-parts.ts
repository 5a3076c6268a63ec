import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import type { Consumer } from './event-bus.ts';
import { inProcessSpan, type MessagingSystem } from './message-spans.ts';

/** The maximum number of events in a batch. Larger batches are not faster. */
const maxBatchSize = 256;

/** Returns the maximum number of events that a consumer handles in one call. */
export const batchSizeOf = (consumer: Consumer): number => ('handleAll' in consumer ? maxBatchSize : 1);

type Progress<Item> = {
  /** The bus and the queue from which the events come. Spans contain their names. */
  readonly origin: { readonly system: MessagingSystem; readonly queue: string };
  /** Returns true if another part of the batch may begin. */
  mayBegin(): boolean;
  onHandled(items: readonly Item[]): void;
  onFailed(item: Item, error: unknown): void;
};

/**
 * Passes a batch to its consumer. If the consumer fails, halves the batch until each failing event is alone,
 * so that an event that always fails does not delay others. If the consumer throws `Unavailable`, the whole
 * batch fails. Never rejects. Returns the items that it did not pass to the consumer.
 */
export async function handleInParts<Item extends { readonly event: CloudEvent }>(
  consumer: Consumer,
  batch: readonly Item[],
  progress: Progress<Item>,
): Promise<readonly Item[]> {
  if (!progress.mayBegin()) return batch;
  try {
    const events = batch.map(({ event }) => event);
    await inProcessSpan(progress.origin, events, () => handle(consumer, events));
  } catch (error) {
    // While the database is unavailable, smaller parts would fail too, and each attempt takes time.
    if (batch.length === 1 || error instanceof Unavailable) {
      for (const item of batch) progress.onFailed(item, error);
      return [];
    }
    const half = Math.ceil(batch.length / 2);
    const left = await handleInParts(consumer, batch.slice(0, half), progress);
    return [...left, ...(await handleInParts(consumer, batch.slice(half), progress))];
  }
  progress.onHandled(batch);
  return [];
}

async function handle(consumer: Consumer, events: readonly CloudEvent[]): Promise<void> {
  if ('handleAll' in consumer) return consumer.handleAll(events);
  for (const event of events) await consumer.handle(event);
}
