import { assertCloudEvent, type CloudEvent } from '@clinical-launch/contracts';
import {
  createKeys,
  defaultPrefix,
  drawAttempt,
  type Keys,
  rememberMs,
  type Shard,
  shardOfText,
  shards,
} from './redis-keys.ts';
import { listOf, type RedisClient, RedisScripts, readScript } from './redis-scripts.ts';
import { eventTexts } from './redis-tickets.ts';

const appendScript = readScript('shared', 'append');
const takeScript = readScript('take');
const settleScript = readScript('settle');
const handBackScript = readScript('hand-back');
const measureScript = readScript('measure');

const group = 'relay';
/** All relays are one consumer: what one of them left is found by its idle time, and no dead name stays behind. */
const consumer = 'relay';
const takenPerShard = 64;
const batchSize = 256;

type Entry = { readonly shard: Shard; readonly id: string; readonly fields: ReadonlyMap<string, string> };

export type RedisOutboxBacking = {
  readonly redis: RedisClient;
  readonly prefix?: string;
  /**
   * After this long, events that a relay took and did not remove go to another one. Publishing four batches must take
   * less, or events are published twice.
   */
  readonly takeOverAfterMs?: number;
};

/**
 * The events of the tickets, and those that stand alone, on their way to the bus: one stream per shard. Events of one
 * shard leave in the order in which they came, unless publishing failed in between. Each is published at least once.
 */
export class RedisOutbox {
  readonly #scripts: RedisScripts;
  readonly #keys: Keys;
  readonly #takeOverAfterMs: number;
  readonly #cursors = new Map<Shard, string>();

  constructor({ redis, prefix = defaultPrefix, takeOverAfterMs = 60_000 }: RedisOutboxBacking) {
    this.#scripts = new RedisScripts(redis);
    this.#keys = createKeys(prefix);
    this.#takeOverAfterMs = takeOverAfterMs;
  }

  /**
   * Keeps events that come with no change of a ticket, all of them or none.
   * @throws TicketsUnavailable when Redis does not answer; TypeError for an event that is not of the catalogue.
   */
  async append(events: readonly CloudEvent[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const shard = shardOfText(first.correlationid);
    const { outbox, committed, appended } = this.#keys;
    await this.#scripts.run(
      appendScript,
      [outbox(shard), committed(shard), appended(shard, drawAttempt())],
      [rememberMs, ...listOf(eventTexts(events))],
    );
  }

  /**
   * Hands the oldest waiting events to `publish` in batches and removes each batch when it resolves; when it rejects, this
   * or any other relay may take the events again at once. Resolves with how many went.
   * @throws what `publish` threw; TicketsUnavailable when nothing could be read from a part of Redis and nothing else
   * was waiting.
   */
  async drain(publish: (events: readonly CloudEvent[]) => Promise<void>): Promise<number> {
    const takes = await Promise.allSettled(shards.map((shard) => this.#take(shard)));
    const taken = takes.flatMap((take) => (take.status === 'fulfilled' ? take.value : []));
    const failed = takes.find((take) => take.status === 'rejected');
    // With one node of a cluster down, the events of the others still go.
    if (taken.length === 0 && failed !== undefined) throw failed.reason;

    let published = 0;
    try {
      while (published < taken.length) {
        const batch = taken.slice(published, published + batchSize);
        await publish(batch.map(eventOf));
        published += batch.length;
        await this.#settle(batch);
      }
    } catch (error) {
      // If this fails as well, the events are taken over when they have been idle for long enough.
      await this.#handBack(taken.slice(published)).catch(() => undefined);
      throw error;
    }
    return taken.length;
  }

  /** How many events wait. */
  async depth(): Promise<number> {
    return (await this.#measure()).reduce((sum, { depth }) => sum + depth, 0);
  }

  /** For how many milliseconds the oldest event has waited; 0 when none waits. */
  async oldestAgeMs(): Promise<number> {
    return Math.max(...(await this.#measure()).map(({ ageMs }) => ageMs));
  }

  /** How many events were ever committed here, by tickets and by `append`. */
  async committed(): Promise<number> {
    return (await this.#measure()).reduce((sum, { committed }) => sum + committed, 0);
  }

  async #take(shard: Shard): Promise<Entry[]> {
    const cursor = this.#cursors.get(shard) ?? '0-0';
    const reply = await this.#scripts.run(
      takeScript,
      [this.#keys.outbox(shard)],
      [group, consumer, this.#takeOverAfterMs, takenPerShard, cursor],
    );
    const [next, entries] = listIn(reply);
    this.#cursors.set(shard, String(next));
    return listIn(entries).map((entry) => readEntry(shard, entry));
  }

  async #settle(batch: readonly Entry[]): Promise<void> {
    await this.#perShard(batch, (shard, ids) =>
      this.#scripts.run(settleScript, [this.#keys.outbox(shard)], [group, ...ids]),
    );
  }

  async #handBack(entries: readonly Entry[]): Promise<void> {
    await this.#perShard(entries, (shard, ids) =>
      this.#scripts.run(
        handBackScript,
        [this.#keys.outbox(shard)],
        [group, consumer, this.#takeOverAfterMs, ...ids],
      ),
    );
  }

  async #perShard(
    entries: readonly Entry[],
    act: (shard: Shard, ids: string[]) => Promise<unknown>,
  ): Promise<void> {
    const byShard = Map.groupBy(entries, ({ shard }) => shard);
    await Promise.all(
      [...byShard].map(([shard, its]) =>
        act(
          shard,
          its.map(({ id }) => id),
        ),
      ),
    );
  }

  async #measure(): Promise<{ depth: number; ageMs: number; committed: number }[]> {
    const { outbox, committed } = this.#keys;
    const replies = await Promise.all(
      shards.map((shard) => this.#scripts.run(measureScript, [outbox(shard), committed(shard)], [])),
    );
    return replies.map((reply) => {
      const [depth = 0, ageMs = 0, count = 0] = listIn(reply).map(Number);
      return { depth, ageMs, committed: count };
    });
  }
}

function readEntry(shard: Shard, entry: unknown): Entry {
  const [id, pairs] = listIn(entry);
  const texts = listIn(pairs).map(String);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < texts.length; at += 2) fields.set(texts[at] ?? '', texts[at + 1] ?? '');
  return { shard, id: String(id), fields };
}

/** The event as the bus gets it: that of a redemption is filed under the ticket's correlation id. */
function eventOf({ fields }: Entry): CloudEvent {
  const event: unknown = JSON.parse(fields.get('event') ?? 'null');
  assertCloudEvent(event);
  const correlationid = fields.get('correlationid');
  return correlationid === undefined ? event : { ...event, correlationid };
}

function listIn(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new Error('A script answered no list');
  return reply;
}
