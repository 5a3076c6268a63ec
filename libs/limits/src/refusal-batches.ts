import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Clock } from '@clinical-launch/runtime/clock';

/** Combines anonymous refusals of one address for the same reason into one event for each interval. */
export type Batches = {
  /** Returns the event if it begins an interval and must be stored now. Otherwise counts the refusal. */
  add(address: string, event: CloudEvent<RefusalType>): CloudEvent<RefusalType> | undefined;
  /** Stores the combined events of ended intervals. With `isLast`, first ends all intervals. */
  flush(options?: { isLast?: boolean }): Promise<void>;
};

type BatchesOptions = {
  readonly clock: Clock;
  readonly combineSeconds: number;
  readonly store: (address: string, event: CloudEvent) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** Is called with the number of refusals whose events cannot be stored. */
  readonly onDropped: (count: number) => void;
};

type Batch = {
  readonly address: string;
  /**
   * The event of the first refusal that was counted in the interval. The combined event has the same time and
   * correlation id.
   */
  event: CloudEvent<RefusalType>;
  count: number;
  endsAt: number;
};

/** The maximum number of batches. A batch uses about 2 kB. */
const maxBatches = 10_000;

/** Creates the batches of this process. */
export function createBatches({
  clock,
  combineSeconds,
  store,
  onFailure,
  onDropped,
}: BatchesOptions): Batches {
  const batches = new Map<string, Batch>();

  /**
   * Ends an interval. After an interval with refusals, another interval begins, so that a steady stream of
   * refusals causes one event for each interval.
   */
  const end = (key: string, batch: Batch): CloudEvent<RefusalType> | undefined => {
    if (batch.count === 0) {
      batches.delete(key);
      return undefined;
    }
    const combined = withCount(batch.event, batch);
    Object.assign(batch, { count: 0, endsAt: clock.now() + combineSeconds * 1000 });
    return combined;
  };
  return {
    add(address, event) {
      if (combineSeconds === 0) return withCount(event, { address, count: 1 });
      const key = JSON.stringify([address, event.type, event.data]);
      const batch = batches.get(key);
      if (batch !== undefined) {
        if (batch.count === 0) batch.event = event;
        batch.count += 1;
        return undefined;
      }
      if (batches.size >= maxBatches) {
        onDropped(1);
        return undefined;
      }
      batches.set(key, { address, event, count: 0, endsAt: clock.now() + combineSeconds * 1000 });
      return withCount(event, { address, count: 1 });
    },
    async flush({ isLast = false } = {}) {
      const now = clock.now();
      const ended = [...batches].filter(([, { endsAt }]) => isLast || endsAt <= now);
      const stored = ended.flatMap(([key, batch]) => {
        const event = end(key, batch);
        return event === undefined ? [] : [store(batch.address, event).catch(onFailure)];
      });
      await Promise.all(stored);
    },
  };
}

function withCount(
  event: CloudEvent<RefusalType>,
  { address, count }: Pick<Batch, 'address' | 'count'>,
): CloudEvent<RefusalType> {
  return { ...event, data: { ...event.data, address, count } };
}
