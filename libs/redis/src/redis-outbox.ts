import {
  assertReceivedEvent,
  type CloudEvent,
  type RejectedEvent,
  type WrittenEvent,
} from '@clinical-launch/contracts/events/cloud-event';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import {
  answerLifetimeMs,
  createRedisKeys,
  createScriptReader,
  defaultPrefix,
  drawAttempt,
  eventTexts,
  listIn,
  listOf,
  type RedisClient,
  type RedisKeys,
  RedisScripts,
  type Shard,
  shardOfText,
  shards,
} from './redis-scripts.ts';

const readScript = createScriptReader(import.meta.url);
const appendScript = readScript('shared', 'append');
const takeScript = readScript('take');
const settleScript = readScript('settle');
const handBackScript = readScript('hand-back');
const measureScript = readScript('measure');
const setAsideScript = readScript('set-aside');

const group = 'relay';
/** All relays share one consumer. Unfinished events are found by their idle time. */
const consumer = 'relay';
const takenPerShard = 64;
const batchSize = 256;
/** The maximum number of set-aside events in each shard. The oldest are removed first. */
const maxRejected = 1000;

/** Milliseconds between polls of all shards, which find events whose wake message was lost. */
const lookEverywhereMs = 2000;

/** The event of an entry, or the reason why the entry contains no event. */
type Read = WrittenEvent | { readonly reason: string };

type Entry = { readonly shard: Shard; readonly id: string; readonly fields: ReadonlyMap<string, string> };

export type RedisOutboxDependencies = {
  readonly redis: RedisClient;
  readonly prefix?: string;
  /**
   * If a relay does not remove its events within these milliseconds, for instance because it was killed,
   * another relay claims them. One `drain` publishes up to four batches. If it takes longer than this time,
   * events are published twice.
   */
  readonly takeOverAfterMs?: number;
  /** Reports each event that was set aside because the bus would always refuse it. */
  readonly onRejected?: (rejected: RejectedEvent) => void;
  /**
   * `outbox` for the events of accepted work; `refused` for the events of refused requests, a stream of
   * bounded length (RedisLimits).
   */
  readonly stream?: 'outbox' | 'refused';
  /** Signs the events for the services that consume them. Without it, events are stored unsigned. */
  readonly writeEvent?: EventWriter;
};

/**
 * The outbox for events that scripts or `append` store: one stream per shard. Publishes each event at least
 * once, and the events of a shard in order unless publishing failed in between.
 */
export class RedisOutbox {
  readonly #scripts: RedisScripts;
  readonly #writeEvent: EventWriter;
  readonly #keys: RedisKeys;
  readonly #takeOverAfterMs: number;
  readonly #stream: (shard: Shard) => string;
  readonly #onRejected: RedisOutboxDependencies['onRejected'];
  readonly #cursors = new Map<Shard, string>();
  /** The shards in which events may wait. */
  readonly #reported = new Set<Shard>();
  /** The time of the last poll of all shards, on the clock of `performance.now`. */
  #lookedEverywhereAt = Number.NEGATIVE_INFINITY;

  /** The channel on which appends to an empty shard are reported (`wakeRelays`). */
  readonly channel: string;

  constructor({
    redis,
    prefix = defaultPrefix,
    takeOverAfterMs = 20_000,
    stream = 'outbox',
    onRejected,
    writeEvent = JSON.stringify,
  }: RedisOutboxDependencies) {
    this.#writeEvent = writeEvent;
    this.#scripts = new RedisScripts(redis);
    this.#keys = createRedisKeys(prefix);
    this.#takeOverAfterMs = takeOverAfterMs;
    this.#stream = this.#keys[stream];
    this.channel = this.#keys.waiting(stream);
    this.#onRejected = onRejected;
  }

  /**
   * Stores events that do not belong to a change of a ticket, all of them or none.
   * @throws RedisUnavailable when Redis does not answer; TypeError for an event that is not in the
   * catalogue
   */
  async append(events: readonly CloudEvent[]): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const shard = shardOfText(first.correlationid);
    const { committed, appended } = this.#keys;
    await this.#scripts.run(
      appendScript,
      [this.#stream(shard), committed(shard), appended(shard, drawAttempt())],
      [answerLifetimeMs, ...listOf(eventTexts(this.#writeEvent, events))],
    );
  }

  /** Marks a shard in which events wait, so that the next `drain` reads the shard. */
  report(shard: string): void {
    if (shards.includes(shard)) this.#reported.add(shard);
  }

  /** Marks every shard, so that the next `drain` reads all shards. */
  reportAll(): void {
    for (const shard of shards) this.#reported.add(shard);
  }

  /**
   * Passes the oldest waiting events of the reported shards to `publish` in batches, and removes each batch
   * when `publish` resolves. Polls all shards if no shard is reported, and every two seconds. If `publish`
   * rejects, any relay may claim the events again immediately. Resolves with the number of processed entries.
   * Moves an entry that contains no event of the catalogue to a separate stream, so that it does not block
   * the other entries.
   * @throws the error of `publish`; RedisUnavailable when a part of Redis could not be read and no other
   *   events were waiting
   */
  async drain(publish: (events: readonly WrittenEvent[]) => Promise<void>): Promise<number> {
    const takes = await Promise.allSettled(this.#shardsToTake().map((shard) => this.#take(shard)));
    const taken = takes.flatMap((take) => (take.status === 'fulfilled' ? take.value : []));
    const failed = takes.find((take) => take.status === 'rejected');
    // After a failure, the next drain polls all shards.
    if (failed !== undefined) this.#lookedEverywhereAt = Number.NEGATIVE_INFINITY;
    // If one node of a cluster is down, the events of the other nodes are still published.
    if (taken.length === 0 && failed !== undefined) throw failed.reason;
    // A shard with events is polled until it is empty, because appends to a non-empty shard are not reported.
    for (const { shard } of taken) this.#reported.add(shard);

    let done = 0;
    try {
      while (done < taken.length) {
        const batch = taken.slice(done, done + batchSize);
        const published = await this.#publish(batch, publish);
        done += batch.length;
        await this.#settle(published);
      }
    } catch (error) {
      // If releasing the events fails too, they are claimed again once they have been idle long enough.
      await this.#handBack(taken.slice(done)).catch(() => undefined);
      this.reportAll();
      throw error;
    }
    return taken.length;
  }

  /**
   * Publishes the events of the entries, and returns the published entries. Sets aside entries without an
   * event.
   */
  async #publish(
    entries: readonly Entry[],
    publish: (events: readonly WrittenEvent[]) => Promise<void>,
  ): Promise<Entry[]> {
    const published: Entry[] = [];
    const events: WrittenEvent[] = [];
    for (const entry of entries) {
      const read = readEvent(entry);
      if ('event' in read) {
        published.push(entry);
        events.push(read);
      } else await this.#setAside(entry, read.reason);
    }
    if (events.length > 0) await publish(events);
    return published;
  }

  async #setAside({ shard, id }: Entry, reason: string): Promise<void> {
    const { rejected } = this.#keys;
    await this.#scripts.run(
      setAsideScript,
      [this.#stream(shard), rejected(shard)],
      [group, maxRejected, id, reason],
    );
    this.#onRejected?.({ place: `${rejected(shard)} ${id}`, reason });
  }

  async depth(): Promise<number> {
    return (await this.#measure()).reduce((sum, { depth }) => sum + depth, 0);
  }

  /** Returns the age of the oldest event in milliseconds, or 0 if no event waits. */
  async oldestAgeMs(): Promise<number> {
    return Math.max(...(await this.#measure()).map(({ ageMs }) => ageMs));
  }

  /** Returns the number of events ever appended under this prefix, including events of refused requests. */
  async committed(): Promise<number> {
    return (await this.#measure()).reduce((sum, { committed }) => sum + committed, 0);
  }

  #shardsToTake(): readonly Shard[] {
    const now = performance.now();
    const isDue = now - this.#lookedEverywhereAt >= lookEverywhereMs;
    const chosen = isDue || this.#reported.size === 0 ? shards : [...this.#reported];
    if (chosen === shards) this.#lookedEverywhereAt = now;
    this.#reported.clear();
    return chosen;
  }

  async #take(shard: Shard): Promise<Entry[]> {
    const cursor = this.#cursors.get(shard) ?? '0-0';
    const reply = await this.#scripts.run(
      takeScript,
      [this.#stream(shard)],
      [group, consumer, this.#takeOverAfterMs, takenPerShard, cursor],
    );
    const [next, entries] = listIn(reply);
    this.#cursors.set(shard, String(next));
    return listIn(entries).map((entry) => readEntry(shard, entry));
  }

  async #settle(batch: readonly Entry[]): Promise<void> {
    await this.#perShard(batch, (shard, ids) =>
      this.#scripts.run(settleScript, [this.#stream(shard)], [group, ...ids]),
    );
  }

  async #handBack(entries: readonly Entry[]): Promise<void> {
    await this.#perShard(entries, (shard, ids) =>
      this.#scripts.run(
        handBackScript,
        [this.#stream(shard)],
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
      [...byShard].map(([shard, its]) => {
        const ids = its.map(({ id }) => id);
        return act(shard, ids);
      }),
    );
  }

  async #measure(): Promise<{ depth: number; ageMs: number; committed: number }[]> {
    const { committed } = this.#keys;
    const replies = await Promise.all(
      shards.map((shard) => this.#scripts.run(measureScript, [this.#stream(shard), committed(shard)], [])),
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

function readEvent({ fields }: Entry): Read {
  const text = fields.get('event') ?? '';
  const event = parse(text);
  try {
    assertReceivedEvent(event);
    return { event, text };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
