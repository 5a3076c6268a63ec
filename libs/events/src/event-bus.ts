import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent, WrittenEvent } from '@clinical-launch/contracts/events/cloud-event';

/** Stores the events of a request. They are stored when the promise resolves. */
export interface Outbox {
  append(events: readonly CloudEvent[]): Promise<void>;
}

type Queue = {
  /** The name of its queue, which is unique on the bus. */
  readonly name: string;
  /** The consumed types. If absent, all types. */
  readonly types?: readonly EventType[];
};

/** Handles events one at a time. */
export type EventConsumer = Queue & {
  /** Resolves when the event is handled, or rejects to receive it again. */
  handle(event: CloudEvent): Promise<void>;
};

/** Handles all waiting events together, for instance in one statement and one commit. */
export type BatchConsumer = Queue & {
  /**
   * Resolves when all events are handled, or rejects if any is not. Then it receives them again in smaller
   * batches, until each failing event is alone.
   */
  handleAll(events: readonly CloudEvent[]): Promise<void>;
};

/**
 * A service's subscription to events. It must be idempotent by event id, because events are delivered at
 * least once.
 */
export type Consumer = EventConsumer | BatchConsumer;

/** Delivers each event to every consumer of its type, at least once. */
export interface EventBus {
  /**
   * Resolves when the bus has accepted the events. @throws TypeError if an event does not match the catalogue
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  /** Publishes events that an outbox has read and checked, with their stored text. */
  publishWritten(events: readonly WrittenEvent[]): Promise<void>;
  /** Starts a consumer. */
  consume(consumer: Consumer): Promise<void>;
  /** Stops the consumers after their current events. */
  stop(): Promise<void>;
}
