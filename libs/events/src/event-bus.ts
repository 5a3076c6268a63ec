import type { CloudEvent, EventType } from '@clinical-launch/contracts';

/** Where a service leaves the events of a request. They are kept when the promise resolves. */
export interface Outbox {
  append(events: readonly CloudEvent[]): Promise<void>;
}

/** One service's interest in events. `handle` must be idempotent by event id: delivery is at least once. */
export type Consumer = {
  /** Name of its queue; unique on the bus. */
  readonly name: string;
  /** The types that it wants; every type when absent. */
  readonly types?: readonly EventType[];
  /** Returns when the event is dealt with, throws when it is to come again. */
  handle(event: CloudEvent): Promise<void>;
};

/** Brings each event to every consumer that wants it, at least once. */
export interface EventBus {
  /** Resolves when the bus has taken the events over. @throws TypeError for one that is not of the catalogue. */
  publish(events: readonly CloudEvent[]): Promise<void>;
  /** Starts a consumer. */
  consume(consumer: Consumer): Promise<void>;
  /** Stops delivering, after the events that are under way. */
  stop(): Promise<void>;
}
