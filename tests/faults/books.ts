import { setTimeout as delay } from 'node:timers/promises';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { waitLimitMs } from '@clinical-launch/testing/until';
import pg from 'pg';
import type { Callback } from './receiver.ts';
import { sendRequest } from './send-request.ts';

/** The data that the platform has stored since `openBooks`. */
export type Books = {
  /** The number of events committed to Redis, from the counter that the scripts increment. */
  readonly committed: number;
  /** The number of events from Redis that the audit trail contains, without duplicates. */
  readonly arrived: number;
  /** Returns the correlation ids of the audit trail's events of a type. */
  correlationIds(type: string): readonly string[];
  /**
   * Returns the number of events of a type in the audit trail. With a status, counts only the events with
   * that status.
   */
  readonly audited: (type: string, status?: number) => number;
  /**
   * GUID and version of each stored order, each rendered document and each delivered document. May contain
   * duplicates.
   */
  readonly submissions: readonly string[];
  readonly documents: readonly string[];
  readonly delivered: readonly string[];
  /** The callbacks that the PMS accepted, in order. Undefined if the PMS does not record callbacks. */
  readonly callbacks: readonly Callback[] | undefined;
};

/** The servers to read the stored data from. */
export type BookKeepers = {
  readonly redis: { readonly url: string };
  readonly postgres: { readonly url: string };
  /** `host:port` */
  readonly rabbitMq: { readonly metricsAddress: string };
  readonly receiver?: { readonly taken: readonly Callback[] };
};

export type OpenBooks = {
  /** Waits until no work is pending, then reads the stored data. @throws Error that lists the pending work */
  close(): Promise<Books>;
};

type Baseline = {
  readonly committed: number;
  /** The ids of the audit trail's rows. */
  readonly audited: ReadonlySet<unknown>;
  readonly at: string;
  readonly callbacks: number;
};

/** Waits until no work is pending, then records the stored data as the baseline of `Books`. */
export async function openBooks(system: BookKeepers): Promise<OpenBooks> {
  await waitUntilStill(system);
  const baseline = await reading(system, async ({ outbox, query }) => {
    const [row] = await query('select clock_timestamp()::text as at');
    const audited = await query('select id::text from audit_trail.audit_event');
    return {
      committed: await outbox.committed(),
      audited: new Set(audited.map(({ id }) => id)),
      at: String(row?.at),
      callbacks: system.receiver?.taken.length ?? 0,
    };
  });
  return {
    async close() {
      await waitUntilStill(system);
      // RabbitMQ reports queue lengths a few seconds late, so events may still be in a queue. Reads again
      // until the counts are equal.
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

async function reading<Result>({ redis, postgres }: BookKeepers, read: (reader: Reader) => Promise<Result>) {
  // On a cluster, a port forward accepts connections even when its Pod was deleted, so every wait needs a
  // limit.
  const limits = { connectionTimeoutMillis: 10_000, query_timeout: 60_000 };
  const client = new pg.Client({ connectionString: postgres.url, ...limits });
  client.on('error', () => undefined);
  const connected = await connectRedis(redis.url, { readyWithinMs: 10_000 });
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

function readBooks(system: BookKeepers, { committed, audited, at, callbacks }: Baseline): Promise<Books> {
  return reading(system, async ({ outbox, query }) => {
    const rows = await query(
      `select id::text, type, correlation_id::text as correlation, source, status::text
        from audit_trail.audit_event`,
    );
    const events = rows.filter(({ id }) => !audited.has(id));
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
      callbacks: system.receiver?.taken.slice(callbacks),
    };
  });
}

/**
 * Waits until outboxes, deliveries and queues, including dead letters, contain no work in two consecutive
 * polls. One poll is not enough: an event handled between reading the outboxes and the queues may add an
 * event to an outbox.
 */
async function waitUntilStill(system: BookKeepers): Promise<void> {
  const giveUpAt = Date.now() + waitLimitMs;
  for (let stillLooks = 0; stillLooks < 2; ) {
    const waiting = await whatWaits(system).catch((error: unknown) => [String(error)]);
    stillLooks = waiting.length === 0 ? stillLooks + 1 : 0;
    if (Date.now() > giveUpAt) throw new Error(`Work is still pending: ${waiting.join(', ')}`);
    if (waiting.length > 0) await delay(200);
  }
}

async function whatWaits(system: BookKeepers): Promise<string[]> {
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
  const queues = await queueLengths(system);
  if (queues.length === 0) throw new Error('RabbitMQ reports no queue');
  return queues.flatMap(([name, messages]) => (messages === 0 ? [] : [`${messages} in ${name}`]));
}

/**
 * Reads the queue lengths from RabbitMQ's metrics, because each call of `rabbitmqctl` takes a second of CPU.
 */
async function queueLengths({ rabbitMq }: BookKeepers): Promise<[string, number][]> {
  const url = `http://${rabbitMq.metricsAddress}/metrics/detailed?family=queue_coarse_metrics`;
  const { body } = await sendRequest({ url });
  const lengths = body.matchAll(/^rabbitmq_detailed_queue_messages\{.*queue="([^"]+)".*\} (\d+)/gm);
  return [...lengths].map(([, name = '', messages]) => [name, Number(messages)]);
}
