import { setTimeout as delay } from 'node:timers/promises';
import { type ConfirmChannel, connect, type GetMessage } from 'amqplib';
import { publishConfirmed } from './confirmed-publish.ts';
import { readDeadLetter, resend, type StoredDeadLetter } from './event-message.ts';
import { type Broker, topologyOf } from './rabbitmq-topology.ts';

const confirmWithinMs = 10_000;
const visibleWithinMs = 2000;

/**
 * Lists the oldest dead letters of a consumer and leaves them where they are. While it looks they are hidden from
 * others who look or replay.
 * @throws Error when the broker cannot be had or the consumer never had a queue.
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
 * Moves dead letters back to the queue of their consumer, all or those of the given event ids, and resolves with the
 * ids that went. Each is removed when the broker has confirmed the other, so one may be doubled and none is lost.
 * @throws Error as `listDeadLetters`, or when the queue does not take one; those before it went.
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
      // Straight to its queue: the other consumers of the event have nothing to do with it.
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
  // What goes wrong rejects the call under way.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const { messageCount } = await channel.checkQueue(deadLetterQueue).catch((cause: unknown) => {
      throw new Error(`There is no dead-letter queue of a consumer ${consumer}`, { cause });
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

/** Dead letters that were taken and not acknowledged: the broker has them back whenever the connection ends. */
class TakenLetters {
  readonly #channel: ConfirmChannel;
  readonly #queue: string;
  /** How many are to be seen in the queue when all that is held was given back. */
  #count: number;
  #left: number;
  #isHolding = false;

  /** @param count how many to take at most: one that fails again meanwhile comes back behind them */
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

  /** Waits until they are to be seen again, so that who looks next finds them; RabbitMQ 4 takes a moment for it. */
  async giveBack(): Promise<void> {
    if (!this.#isHolding) return;
    this.#channel.nackAll(true);
    const giveUpAt = performance.now() + visibleWithinMs;
    while ((await this.#channel.checkQueue(this.#queue)).messageCount < this.#count) {
      // Somebody else may have taken them already.
      if (performance.now() > giveUpAt) return;
      await delay(5);
    }
  }
}
