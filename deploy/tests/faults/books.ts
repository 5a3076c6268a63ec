import { setTimeout as delay } from 'node:timers/promises';
import { waitLimitMs } from '@clinical-launch/testing';
import { connectRedis, RedisOutbox } from '@clinical-launch/tickets/redis';
import pg from 'pg';
import type { Callback } from './receiver.ts';
import type { System } from './system.ts';

/** The data that the platform has stored since the books were opened. */
export type Books = {
  /** The events that Redis committed, by the counter that its scripts raise with each. */
  readonly committed: number;
  /** The distinct events of the audit trail that came from Redis. */
  readonly arrived: number;
  /** Returns the audit trail's events of a type, by correlation id. */
  correlationIds(type: string): readonly string[];
  /**
   * Returns the number of events of a type in the audit trail; with a status, only those with that status.
   */
  readonly audited: (type: string, status?: number) => number;
  /**
   * GUID and version of the stored orders, of the documents, and of the delivered ones, as often as they
   * occur.
   */
  readonly submissions: readonly string[];
  readonly documents: readonly string[];
  readonly delivered: readonly string[];
  /** The callbacks that the PMS accepted, in order. */
  readonly callbacks: readonly Callback[];
};

export type OpenBooks = {
  /** Waits until nothing is pending any more, then reads. @throws Error with what is still pending */
  close(): Promise<Books>;
};

type Baseline = {
  readonly committed: number;
  readonly sequence: string;
  readonly at: string;
  readonly callbacks: number;
};

/** Records the state of the books, once nothing is pending. */
export async function openBooks(system: System): Promise<OpenBooks> {
  await waitUntilStill(system);
  const baseline = await reading(system, async ({ outbox, query }) => {
    const [row] = await query(
      `select coalesce(max(sequence), 0)::text as sequence, clock_timestamp()::text as at from audit_trail.event`,
    );
    return {
      committed: await outbox.committed(),
      sequence: String(row?.sequence),
      at: String(row?.at),
      callbacks: system.receiver.taken.length,
    };
  });
  return {
    async close() {
      await waitUntilStill(system);
      // RabbitMQ reports the length of its queues a few seconds late, so an unequal sum is read again.
      for (const giveUpAt = Date.now() + waitLimitMs; ; await delay(200)) {
        const books = await readBooks(system, baseline);
        if (isSettled(books) || Date.now() > giveUpAt) return books;
      }
    },
  };
}

function isSettled({ committed, arrived, submissions, documents, audited }: Books): boolean {
  return (
    arrived === committed &&
    documents.length === submissions.length &&
    audited('order.submitted.v1') === submissions.length &&
    audited('order.document.rendered.v1') === documents.length
  );
}

type Row = Readonly<Record<string, unknown>>;
type Reader = {
  readonly outbox: RedisOutbox;
  readonly query: (text: string, values?: readonly string[]) => Promise<Row[]>;
};

async function reading<Result>({ redis, postgres }: System, read: (reader: Reader) => Promise<Result>) {
  const client = new pg.Client({ connectionString: postgres.url });
  const connected = await connectRedis(redis.url);
  try {
    await client.connect();
    return await read({
      outbox: new RedisOutbox({ redis: connected }),
      query: async (text, values = []) => (await client.query<Row>(text, [...values])).rows,
    });
  } finally {
    connected.disconnect();
    await client.end();
  }
}

function readBooks(system: System, { committed, sequence, at, callbacks }: Baseline): Promise<Books> {
  return reading(system, async ({ outbox, query }) => {
    const events = await query(
      `select id::text, type, correlation_id::text as correlation, event->>'source' as source,
        event->'data'->>'status' as status from audit_trail.event where sequence > $1`,
      [sequence],
    );
    const fromRedis = events.filter(({ source }) => source !== '/ordering' && source !== '/order-renderer');
    const states = async (order: string, version: string, from: string) => {
      const text = `select ${order}::text || ' ' || ${version} as state from ${from} > $1`;
      return (await query(text, [at])).map(({ state }) => String(state));
    };
    return {
      committed: (await outbox.committed()) - committed,
      arrived: new Set(fromRedis.map(({ id }) => id)).size,
      correlationIds: (wanted) =>
        events.filter(({ type }) => type === wanted).map(({ correlation }) => String(correlation)),
      audited: (wanted, wantedStatus) =>
        events.filter(
          ({ type, status }) =>
            type === wanted && (wantedStatus === undefined || status === String(wantedStatus)),
        ).length,
      submissions: await states('request_guid', 'request_version', 'ordering.submissions where submitted_at'),
      documents: await states('order_guid', 'order_version', 'order_renderer.document where rendered_at'),
      delivered: await states(
        'order_guid',
        'order_version',
        `order_renderer.delivery where state = 'delivered' and waiting_since`,
      ),
      callbacks: system.receiver.taken.slice(callbacks),
    };
  });
}

/**
 * Waits until outboxes and queues, including dead letters, are empty in two polls in a row: an event that is
 * handled between the polls of the outboxes and of the queues may enter an outbox once more.
 */
async function waitUntilStill(system: System): Promise<void> {
  const giveUpAt = Date.now() + waitLimitMs;
  for (let stillLooks = 0; stillLooks < 2; ) {
    const waiting = await whatWaits(system);
    stillLooks = waiting.length === 0 ? stillLooks + 1 : 0;
    if (Date.now() > giveUpAt) throw new Error(`It does not stand still: ${waiting.join(', ')}`);
    if (waiting.length > 0) await delay(200);
  }
}

async function whatWaits(system: System): Promise<string[]> {
  const outboxes = await reading(system, async ({ outbox, query }) => {
    const count = async (table: string) =>
      Number((await query(`select count(*) from ${table}`))[0]?.count ?? Number.NaN);
    return {
      'the outbox in Redis': await outbox.depth(),
      'the outbox of ordering': await count('ordering.outbox'),
      'the outbox of the order renderer': await count('order_renderer.outbox'),
      'the documents to be delivered': await count(`order_renderer.delivery where state <> 'delivered'`),
    };
  });
  const waiting = Object.entries(outboxes).filter(([, events]) => events !== 0);
  if (waiting.length > 0) return waiting.map(([name, events]) => `${events} in ${name}`);
  // Delivered but unacknowledged messages count too.
  const queues = await system.rabbitMq.control('list_queues', 'name', 'messages');
  const lengths = [...queues.matchAll(/^(\S+)\t(\d+)$/gm)];
  if (lengths.length === 0) throw new Error('RabbitMQ tells of no queue');
  return lengths
    .filter(([, , messages]) => messages !== '0')
    .map(([, name, messages]) => `${messages} in ${name}`);
}
