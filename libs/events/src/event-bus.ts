import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent, WrittenEvent } from '@clinical-launch/contracts/events/cloud-event';

/** Where a service stores the events of a request. They are stored when the promise resolves. */
export interface Outbox {
  append(events: readonly CloudEvent[]): Promise<void>;
}

type Queue = {
  /** Name of its queue; unique on the bus. */
  readonly name: string;
  /** The wanted types; every type when absent. */
  readonly types?: readonly EventType[];
};

/** Handles events one at a time. */
export type EventConsumer = Queue & {
  /** Returns when the event is handled; throws to receive it again. */
  handle(event: CloudEvent): Promise<void>;
};

/** Handles the events that wait for it together, for instance in one statement and one commit. */
export type BatchConsumer = Queue & {
  /**
   * Returns when all of the events are handled; throws if any of them is not. It then receives them again in
   * smaller batches, until each event that fails is alone.
   */
  handleAll(events: readonly CloudEvent[]): Promise<void>;
};

/** A service's subscription to events. It must be idempotent by event id: delivery is at least once. */
export type Consumer = EventConsumer | BatchConsumer;

/** Delivers each event to every consumer that wants it, at least once. */
export interface EventBus {
  /**
   * Resolves when the bus has accepted the events. @throws TypeError for an event that is not in the
   * catalogue
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  /** Publishes events that their outbox has read and checked, in the text in which it stored them. */
  publishWritten(events: readonly WrittenEvent[]): Promise<void>;
  /** Starts a consumer. */
  consume(consumer: Consumer): Promise<void>;
  /** Stops delivering, after the events that are being handled. */
  stop(): Promise<void>;
}
