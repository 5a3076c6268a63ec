import { assertCloudEvent, type CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Outbox } from './event-bus.ts';
import type { OutboxSource } from './relay.ts';

/**
 * The outbox of a process without Redis. It keeps the order of events and delivers them at least once. If the
 * process ends, the events are lost.
 */
export class InMemoryOutbox implements Outbox, OutboxSource {
  readonly #events: CloudEvent[] = [];
  readonly #onAppend: () => void;

  /** @param onAppend is called after each append, and can wake the relay */
  constructor(onAppend: () => void = () => undefined) {
    this.#onAppend = onAppend;
  }

  /**
   * Stores events.
   * @throws TypeError if an event does not match the catalogue. The bus would refuse such an event every
   *   time, so that no later event could be published
   */
  async append(events: readonly CloudEvent[]): Promise<void> {
    for (const event of events) assertCloudEvent(event);
    this.#events.push(...events);
    if (events.length > 0) this.#onAppend();
  }

  async drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number> {
    const batch = this.#events.slice(0, 100);
    if (batch.length === 0) return 0;
    await publish(batch);
    this.#events.splice(0, batch.length);
    return batch.length;
  }

  /** Returns the number of events that wait to be published. */
  async depth(): Promise<number> {
    return this.#events.length;
  }

  /** Returns the age of the oldest event according to its `time`, or 0 if no event waits. */
  async oldestAgeMs(): Promise<number> {
    const [oldest] = this.#events;
    return oldest === undefined ? 0 : Math.max(0, Date.now() - Date.parse(oldest.time));
  }
}
