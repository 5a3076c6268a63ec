import { pause } from '@clinical-launch/runtime/clock';
import { type ConfirmChannel, connect, type GetMessage } from 'amqplib';
import { publishConfirmed } from './confirmed-publish.ts';
import { readDeadLetter, resend, type StoredDeadLetter } from './event-message.ts';
import { type Broker, topologyOf } from './rabbitmq-topology.ts';

const confirmWithinMs = 10_000;
const visibleWithinMs = 2000;

/**
 * Lists the oldest dead letters of a consumer. They stay in their queue, but are hidden from other commands
 * until this one ends.
 * @throws Error if the broker is unavailable or the consumer never had a queue
 */
export async function listDeadLetters(
  broker: Broker,
  consumer: string,
  { limit = 1000 }: { readonly limit?: number } = {},
): Promise<readonly StoredDeadLetter[]> {
  return withDeadLetters(broker, consumer, async (taken) => {
    const letters: StoredDeadLetter[] = [];
    while (letters.length < limit) {
      const message = await taken.next();
      if (message === undefined) break;
      letters.push(readDeadLetter(message));
    }
    return letters;
  });
}

/**
 * Moves dead letters back to the queue of their consumer, all or only those of the given event ids, and
 * returns the moved ids. Removes each after the broker has confirmed its copy, so a letter may be duplicated
 * but never lost.
 * @throws Error as `listDeadLetters`, or if the queue refuses a letter. Earlier letters were moved
 */
export async function replayDeadLetters(
  broker: Broker,
  consumer: string,
  ids?: readonly string[],
): Promise<readonly string[]> {
  return withDeadLetters(broker, consumer, async (taken, { channel, queue }) => {
    const replayed: string[] = [];
    for (let message = await taken.next(); message; message = await taken.next()) {
      const letter = resend(message, queue);
      if (ids?.includes(letter.messageId) === false) continue;
      // Sent directly to the queue, so that other consumers of the event do not receive it again.
      await publishConfirmed(channel, [letter], { exchange: '', timeoutMs: confirmWithinMs });
      taken.remove(message);
      replayed.push(letter.messageId);
    }
    return replayed;
  });
}

type Place = { readonly channel: ConfirmChannel; readonly queue: string };

async function withDeadLetters<Result>(
  { url, namespace }: Broker,
  consumer: string,
  work: (taken: TakenLetters, place: Place) => Promise<Result>,
): Promise<Result> {
  const topology = topologyOf(namespace);
  const queue = topology.queueOf(consumer);
  const deadLetterQueue = topology.deadLetterQueueOf(consumer);
  const connection = await connect(url, { noDelay: true, timeout: 5000 });
  // Errors reject the pending call, so the event needs no handling.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const { messageCount } = await channel.checkQueue(deadLetterQueue).catch((cause: unknown) => {
      throw new Error(`The consumer ${consumer} has no dead-letter queue`, { cause });
    });
    const taken = new TakenLetters(channel, deadLetterQueue, messageCount);
    const result = await work(taken, { channel, queue });
    await taken.giveBack();
    await channel.close();
    return result;
  } finally {
    await connection.close().catch(() => undefined);
  }
}

/**
 * The dead letters that were fetched but not acknowledged. The broker requeues them when the connection ends.
 */
class TakenLetters {
  readonly #channel: ConfirmChannel;
  readonly #queue: string;
  /** The number of letters in the queue after all held letters are returned. */
  #count: number;
  #left: number;
  #isHolding = false;

  /** @param count the maximum number to fetch. Letters that fail again during the command are beyond it */
  constructor(channel: ConfirmChannel, queue: string, count: number) {
    this.#channel = channel;
    this.#queue = queue;
    this.#count = count;
    this.#left = count;
  }

  async next(): Promise<GetMessage | undefined> {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    const message = await this.#channel.get(this.#queue);
    if (message === false) return undefined;
    this.#isHolding = true;
    return message;
  }

  remove(message: GetMessage): void {
    this.#channel.ack(message);
    this.#count -= 1;
  }

  /**
   * Returns the letters and waits until the next command can see them, which takes a moment with RabbitMQ 4.
   */
  async giveBack(): Promise<void> {
    if (!this.#isHolding) return;
    this.#channel.nackAll(true);
    const giveUpAt = performance.now() + visibleWithinMs;
    while ((await this.#channel.checkQueue(this.#queue)).messageCount < this.#count) {
      // Another command may already have fetched them.
      if (performance.now() > giveUpAt) return;
      await pause(5);
    }
  }
}
