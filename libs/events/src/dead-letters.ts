import { type ConfirmChannel, connect, type GetMessage } from 'amqplib';
import { publishConfirmed } from './confirmed-publish.ts';
import { readDeadLetter, resend, type StoredDeadLetter } from './event-message.ts';
import { type Broker, topologyOf } from './rabbitmq-topology.ts';

const confirmWithinMs = 10_000;

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
  return withDeadLetters(broker, consumer, async ({ channel, deadLetterQueue, count }) => {
    const letters: StoredDeadLetter[] = [];
    for await (const message of taken(channel, deadLetterQueue, Math.min(count, limit))) {
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
  return withDeadLetters(broker, consumer, async ({ channel, queue, deadLetterQueue, count }) => {
    const replayed: string[] = [];
    for await (const message of taken(channel, deadLetterQueue, count)) {
      const letter = resend(message, queue);
      if (ids?.includes(letter.messageId) === false) continue;
      // Straight to its queue: the other consumers of the event have nothing to do with it.
      await publishConfirmed(channel, [letter], { exchange: '', timeoutMs: confirmWithinMs });
      channel.ack(message);
      replayed.push(letter.messageId);
    }
    return replayed;
  });
}

type DeadLetters = {
  readonly channel: ConfirmChannel;
  readonly queue: string;
  readonly deadLetterQueue: string;
  readonly count: number;
};

/** What is taken and not acknowledged goes back to the dead letters when the work is done or the connection ends. */
async function withDeadLetters<Result>(
  { url, namespace }: Broker,
  consumer: string,
  work: (deadLetters: DeadLetters) => Promise<Result>,
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
    const { messageCount: count } = await channel.checkQueue(deadLetterQueue).catch((cause: unknown) => {
      throw new Error(`There is no dead-letter queue of a consumer ${consumer}`, { cause });
    });
    const result = await work({ channel, queue, deadLetterQueue, count });
    channel.nackAll(true);
    await channel.close();
    return result;
  } finally {
    await connection.close().catch(() => undefined);
  }
}

/** So many messages at most: one that fails again meanwhile comes back behind them. */
async function* taken(channel: ConfirmChannel, queue: string, count: number): AsyncGenerator<GetMessage> {
  for (let index = 0; index < count; index += 1) {
    const message = await channel.get(queue);
    if (message === false) return;
    yield message;
  }
}
