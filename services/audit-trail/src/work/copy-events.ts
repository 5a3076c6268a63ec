import type { Clock, Logger } from '@clinical-launch/service';
import type { EarlierEvents } from '../store/earlier-events.ts';
import { type Repeated, startRepeated } from './repeated.ts';
import type { StoreEvents } from './store-events.ts';

type CopyOptions = {
  readonly store: StoreEvents;
  readonly earlier: EarlierEvents;
  readonly clock: Clock;
  readonly logger: Logger;
};

const batchSize = 256;
/** Rows that a process of the earlier release may commit after later ones. */
const overlap = 1000;
const followEveryMs = 60_000;

export type EventCopy = Repeated & {
  /** Copies the events of a GUID now. */
  copyNow(correlationId: string): Promise<void>;
};

/**
 * Copies the events that earlier releases stored, in the background: safe to repeat, and to run in several
 * replicas. It follows processes of the earlier release that still run during an upgrade.
 */
export function startEventCopy({ store, earlier, clock, logger }: CopyOptions): EventCopy {
  const copyOnce = async () => {
    const known = await earlier.copiedTo();
    for (let place = Math.max(0, known - overlap); ; ) {
      const events = await earlier.after(place, batchSize);
      const last = events.at(-1);
      if (last === undefined) return;
      await store(events.map(({ event }) => event));
      place = Number(last.sequence);
      if (place > known) await earlier.recordCopied(place, new Date(clock.now()));
    }
  };
  const repeated = startRepeated({ name: 'copy events', everyMs: followEveryMs, logger, work: copyOnce });
  return {
    ...repeated,
    async copyNow(correlationId) {
      const events = await earlier.ofCorrelation(correlationId);
      for (let at = 0; at < events.length; at += batchSize) {
        await store(events.slice(at, at + batchSize).map(({ event }) => event));
      }
    },
  };
}
