import type { CloudEvent, EventType } from '@clinical-launch/contracts';

/** Where a service stores the events of a request. They are stored when the promise resolves. */
export interface Outbox {
  append(events: readonly CloudEvent[]): Promise<void>;
}

/** A service's subscription to events. `handle` must be idempotent by event id: delivery is at least once. */
export type Consumer = {
  /** Name of its queue; unique on the bus. */
  readonly name: string;
  /** The wanted types; every type when absent. */
  readonly types?: readonly EventType[];
  /** Returns when the event is handled; throws to receive it again. */
  handle(event: CloudEvent): Promise<void>;
};

/** Delivers each event to every consumer that wants it, at least once. */
export interface EventBus {
  /**
   * Resolves when the bus has accepted the events. @throws TypeError for an event that is not in the
   * catalogue
   */
  publish(events: readonly CloudEvent[]): Promise<void>;
  /** Starts a consumer. */
  consume(consumer: Consumer): Promise<void>;
  /** Stops delivering, after the events that are being handled. */
  stop(): Promise<void>;
}
