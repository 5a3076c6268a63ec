import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent, WrittenEvent } from '@clinical-launch/contracts/events/cloud-event';

/** Stores the events of a request until they are published. */
export interface Outbox {
  append(events: readonly CloudEvent[]): Promise<void>;
}

type Queue = {
  /** The name of the consumer, which is unique on the bus and also names its queue. */
  readonly name: string;
  /** The event types that the consumer receives. If absent, all types. */
  readonly types?: readonly EventType[];
};

/** Handles events one at a time. */
export type EventConsumer = Queue & {
  /** Resolves when the event is handled. If it rejects, the bus delivers the event again. */
  handle(event: CloudEvent): Promise<void>;
};

/** Handles all waiting events together, for instance in one SQL statement and one commit. */
export type BatchConsumer = Queue & {
  /**
   * Resolves when all events are handled. If it rejects, but not with `Unavailable`, the bus calls it again
   * with smaller batches, until each failing event is alone in a batch.
   */
  handleAll(events: readonly CloudEvent[]): Promise<void>;
};

/**
 * A consumer of events. Must handle repeated events with the same id only once, because delivery is at least
 * once.
 */
export type Consumer = EventConsumer | BatchConsumer;

/** Delivers each event at least once to every consumer of its type. */
export interface EventBus {
  /**
   * Resolves when the bus has accepted the events.
   * @throws TypeError if an event does not match the catalogue
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  /**
   * Publishes events with the text that an outbox stored. Does not check the events, because the outbox has
   * checked them.
   */
  publishWritten(events: readonly WrittenEvent[]): Promise<void>;
  consume(consumer: Consumer): Promise<void>;
  /** Waits until the consumers have handled their current events, and stops the consumers. */
  stop(): Promise<void>;
}
