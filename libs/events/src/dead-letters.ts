import { pause } from '@clinical-launch/runtime/clock';
import { type ConfirmChannel, connect, type GetMessage } from 'amqplib';
import { publishConfirmed } from './confirmed-publish.ts';
import { readDeadLetter, resend, type StoredDeadLetter } from './event-message.ts';
import { type Broker, topologyOf } from './rabbitmq-topology.ts';

const confirmWithinMs = 10_000;
const visibleWithinMs = 2000;

/** Thrown if the broker never had a queue for the consumer. */
export class NoDeadLetterQueue extends Error {}

/**
 * Lists the oldest dead letters of a consumer. The letters stay in their queue, but are hidden from other
 * commands until this command ends.
 * @throws NoDeadLetterQueue, or Error if the broker is unavailable
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
 * Moves dead letters back to the queue of their consumer, and returns the ids of the moved events. Removes a
 * letter only after the broker has confirmed the copy, so that a letter may be duplicated but is never lost.
 * @param ids the ids of the events to move. By default, moves all
 * @throws Error as `listDeadLetters` does, or if the queue refuses a letter. The letters before it have then
 * been moved
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
      // Sends the letter directly to the queue, so that other consumers do not receive the event again.
      await publishConfirmed(channel, [letter], { exchange: '', timeoutMs: confirmWithinMs });
      taken.remove(message);
      replayed.push(letter.messageId);
    }
    return replayed;
  });
}

async function withDeadLetters<Result>(
  { url, namespace }: Broker,
  consumer: string,
  work: (taken: TakenLetters, place: { channel: ConfirmChannel; queue: string }) => Promise<Result>,
): Promise<Result> {
  const topology = topologyOf(namespace);
  const queue = topology.queueOf(consumer);
  const deadLetterQueue = topology.deadLetterQueueOf(consumer);
  const connection = await connect(url, { noDelay: true, timeout: 5000 });
  // An error of the connection also rejects the pending call, so the listener does nothing.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const { messageCount } = await channel.checkQueue(deadLetterQueue).catch((cause: unknown) => {
      throw new NoDeadLetterQueue(`The consumer ${consumer} has no dead-letter queue`, { cause });
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
 * Fetches dead letters without acknowledging them. The broker requeues these letters when the connection
 * ends.
 */
class TakenLetters {
  readonly #channel: ConfirmChannel;
  readonly #queue: string;
  /** The number of letters in the queue after the fetched letters are returned. */
  #count: number;
  #left: number;
  #isHolding = false;

  /** @param count the number of letters at the start. Letters that arrive later are not fetched */
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
   * Returns the fetched letters to the queue, and waits until the next command can fetch them. RabbitMQ 4
   * needs a moment for this.
   */
  async giveBack(): Promise<void> {
    if (!this.#isHolding) return;
    this.#channel.nackAll(true);
    const giveUpAt = performance.now() + visibleWithinMs;
    while ((await this.#channel.checkQueue(this.#queue)).messageCount < this.#count) {
      // Stops waiting, because another command may already have fetched the returned letters.
      if (performance.now() > giveUpAt) return;
      await pause(5);
    }
  }
}
