import {
  assertCloudEvent,
  assertReceivedEvent,
  type CloudEvent,
  type WrittenEvent,
} from '@clinical-launch/contracts/events/cloud-event';
import { pause } from '@clinical-launch/runtime/clock';
import type { Consumer, EventBus, Outbox } from './event-bus.ts';
import { batchSizeOf, handleInParts } from './handle-in-parts.ts';

export type DeadLetter = { readonly consumer: string; readonly event: CloudEvent; readonly error: unknown };

type Queue = {
  readonly consumer: Consumer;
  readonly events: CloudEvent[];
  running: Promise<void> | undefined;
};

type InProcessBusOptions = {
  /** Is called after the last attempt with an event that a consumer could not handle. */
  readonly onDeadLetter: (letter: DeadLetter) => void;
  /** The waits between attempts in milliseconds. Two waits mean three attempts. */
  readonly retryAfterMs?: readonly number[];
};

/**
 * A bus within one process, with an ordered queue for each consumer, a limited number of attempts, and dead
 * letters. It is also the outbox, because nothing can fail between an outbox and a bus in one process. If the
 * process ends, the events are lost.
 */
export class InProcessBus implements EventBus, Outbox {
  readonly deadLetters: DeadLetter[] = [];
  readonly #queues: Queue[] = [];
  readonly #onDeadLetter: InProcessBusOptions['onDeadLetter'];
  readonly #retryAfterMs: readonly number[];
  readonly #stopping = new AbortController();

  constructor({ onDeadLetter, retryAfterMs = [10, 100, 1000] }: InProcessBusOptions) {
    this.#onDeadLetter = onDeadLetter;
    this.#retryAfterMs = retryAfterMs;
  }

  async publish(events: readonly CloudEvent[]): Promise<void> {
    for (const event of events) assertReceivedEvent(event);
    this.#deliverToAll(events);
  }

  async publishWritten(events: readonly WrittenEvent[]): Promise<void> {
    this.#deliverToAll(events.map(({ event }) => event));
  }

  #deliverToAll(events: readonly CloudEvent[]): void {
    for (const queue of this.#queues) {
      const wanted = events.filter(({ type }) => queue.consumer.types?.includes(type) ?? true);
      queue.events.push(...wanted);
      this.#run(queue);
    }
  }

  async append(events: readonly CloudEvent[]): Promise<void> {
    for (const event of events) assertCloudEvent(event);
    await this.publish(events);
  }

  async consume(consumer: Consumer): Promise<void> {
    if (this.#queues.some(({ consumer: { name } }) => name === consumer.name)) {
      throw new TypeError(`The bus already has a consumer ${consumer.name}`);
    }
    this.#queues.push({ consumer, events: [], running: undefined });
  }

  /** Resolves when all events are handled, including events that consumers published. */
  async idle(): Promise<void> {
    for (let busy = this.#running(); busy.length > 0; busy = this.#running()) await Promise.all(busy);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.idle();
  }

  #running(): Promise<void>[] {
    return this.#queues.flatMap(({ running }) => running ?? []);
  }

  #run(queue: Queue): void {
    if (queue.running !== undefined || queue.events.length === 0) return;
    queue.running = this.#deliverAll(queue).finally(() => {
      queue.running = undefined;
      this.#run(queue);
    });
  }

  async #deliverAll({ consumer, events }: Queue): Promise<void> {
    while (events.length > 0) await this.#deliver(consumer, events.splice(0, batchSizeOf(consumer)));
  }

  /** Handles a batch. Retries the failing events after the other events are handled. */
  async #deliver(consumer: Consumer, events: readonly CloudEvent[]): Promise<void> {
    let failed = await attemptAll(consumer, events);
    for (const waitMs of this.#retryAfterMs) {
      if (failed.length === 0) return;
      // A stopping bus does not wait between attempts, so that the current events complete.
      await pause(waitMs, this.#stopping.signal);
      failed = await attemptAll(
        consumer,
        failed.map(({ event }) => event),
      );
    }
    for (const { event, error } of failed) this.#bury({ consumer: consumer.name, event, error });
  }

  #bury(letter: DeadLetter): void {
    this.deadLetters.push(letter);
    this.#onDeadLetter(letter);
  }
}

type Failure = { readonly event: CloudEvent; readonly error: unknown };

async function attemptAll(consumer: Consumer, events: readonly CloudEvent[]): Promise<readonly Failure[]> {
  const failed: Failure[] = [];
  const items = events.map((event) => ({ event }));
  await handleInParts(consumer, items, {
    origin: { system: 'in_process', queue: consumer.name },
    mayBegin: () => true,
    onHandled: () => undefined,
    onFailed: ({ event }, error) => void failed.push({ event, error }),
  });
  return failed;
}
