import type { KeyObject } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { sql, type Transaction } from 'kysely';
import {
  type AuditColumns,
  type AuditRow,
  columnsOf,
  type LaunchColumns,
  launchTypes,
  withLaunch,
} from '../domain/audit-row.ts';
import { columnNames, columns, columnsWith } from '../domain/columns.ts';
import {
  boundsOf,
  type ChainEnd,
  genesisOf,
  hashOfRow,
  partitionOf,
  sealOf,
  textOf,
} from '../domain/row-chain.ts';
import { type AuditDatabase, type AuditTables, ensurePartition } from './tables.ts';

export type AuditStore = ReturnType<typeof createAuditStore>;

/**
 * The key of the advisory lock that writers of the chain wait for. It can be any number that is the same in
 * every process.
 */
const chainLock = 4_711_902_026;
/** The number of days after the start of a launch in which events of the launch inherit its details. */
const launchDays = 62;

type AuditStoreOptions = {
  readonly database: AuditDatabase;
  /** Seals the rows. Without this key, nobody can write a row that `verify` accepts. */
  readonly sealKey: KeyObject;
  /** Receives the partitions of each batch after its commit. */
  readonly onStored?: (partitions: readonly string[]) => void;
};

/** Creates the store of the audit trail's events. */
export function createAuditStore({ database, sealKey, onStored }: AuditStoreOptions) {
  const existing = new Set<string>();
  const ensureOnce = async (partition: string) => {
    if (existing.has(partition)) return;
    await ensurePartition(database, partition);
    existing.add(partition);
  };
  return {
    /**
     * Appends events to their partitions, all or none. Skips an event if an event with the same id and time
     * is already stored.
     */
    async append(events: readonly CloudEvent[]): Promise<void> {
      const all = events.map(columnsOf);
      const partitions = partitionsOf(all);
      for (const partition of partitions) await ensureOnce(partition);
      try {
        await database.transaction().execute(async (transaction) => {
          await sql`select pg_advisory_xact_lock(${chainLock})`.execute(transaction);
          const fresh = await withoutStored(transaction, all);
          if (fresh.length === 0) return;
          const rows = await withLaunches(transaction, fresh);
          await insertRows(transaction, await chained(transaction, rows, sealKey));
        });
      } catch (error) {
        // Forgets the known partitions, because another replica may have dropped one of them.
        existing.clear();
        throw error;
      }
      onStored?.(partitions);
    },
    /** Returns up to `limit` events of a correlation id in order of arrival, after the given position. */
    async findByCorrelation(correlationId: string, { after, limit }: { after: string; limit: number }) {
      const place = sql<string>`(to_char(time at time zone 'UTC', 'YYYYMM')::bigint * 1000000000000 + sequence)`;
      const rows = await database
        .selectFrom('audit_event')
        .select(['event', place.as('place')])
        .where('correlation_id', '=', correlationId)
        .where(place, '>', after)
        .orderBy(place)
        .limit(limit)
        .execute();
      return rows.map((row) => ({ place: row.place, event: JSON.parse(row.event) as CloudEvent }));
    },
  };
}

const partitionsOf = (rows: readonly AuditColumns[]) => [
  ...new Set(rows.map(({ time }) => partitionOf(time))),
];

const times = (rows: readonly AuditColumns[]) => {
  const sorted = rows.map(({ time }) => time).toSorted();
  return { earliest: sorted.at(0) ?? '', latest: sorted.at(-1) ?? '' };
};

/**
 * Returns the events that have no row yet, each event once. The result is only reliable while the lock is
 * held.
 */
async function withoutStored(transaction: Transaction<AuditTables>, all: readonly AuditColumns[]) {
  const { earliest, latest } = times(all);
  const { rows } = await sql<{ id: string; time: Date }>`select id, time from audit_trail.audit_event
    where id = any(${all.map(({ id }) => id)}::uuid[]) and time between ${earliest} and ${latest}`.execute(
    transaction,
  );
  const known = new Set(rows.map(({ id, time }) => `${id} ${time.toISOString()}`));
  return all.filter(({ id, time }) => {
    const key = `${id} ${time}`;
    return !known.has(key) && known.add(key);
  });
}

type Unchained = Omit<AuditRow, 'sequence'>;

/** Completes each event with the details of its launch, which is in the same batch or already stored. */
async function withLaunches(
  transaction: Transaction<AuditTables>,
  fresh: readonly AuditColumns[],
): Promise<readonly Unchained[]> {
  const isLaunch = ({ type }: AuditColumns) => launchTypes.includes(type);
  const known = new Map<string, LaunchColumns>(
    fresh.filter(isLaunch).map((launch) => [launch.correlation_id, launch]),
  );
  const stored = await storedOf(transaction, fresh);
  for (const { correlation_id: id, type, ...row } of stored) {
    if (launchTypes.includes(type)) known.set(id, row);
  }
  const begun = new Set(stored.map(({ correlation_id: id }) => id));
  return fresh.map((one) => {
    if (isLaunch(one)) return { ...one, is_late: begun.has(one.correlation_id) };
    const launch = known.get(one.correlation_id) ?? known.get(one.launch_id ?? '');
    return { ...(launch === undefined ? one : withLaunch(one, launch)), is_late: false };
  });
}

/** Returns the stored rows of these events' launches, within `launchDays` of the events. */
async function storedOf(transaction: Transaction<AuditTables>, fresh: readonly AuditColumns[]) {
  const { earliest, latest } = times(fresh);
  const ids = new Set(fresh.flatMap((one) => [one.correlation_id, one.launch_id ?? []].flat()));
  const days = sql`make_interval(days => ${sql.lit(launchDays)})`;
  return transaction
    .selectFrom('audit_event')
    .select(['correlation_id', 'type', ...columnsWith('inheritedWith')])
    .where('correlation_id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .where('time', '>=', sql<Date>`${earliest}::timestamptz - ${days}`)
    .where('time', '<=', sql<Date>`${latest}::timestamptz + ${days}`)
    .execute();
}

type ChainedRow = { readonly row: AuditRow; readonly hash: Buffer; readonly seal: Buffer };

async function chained(
  transaction: Transaction<AuditTables>,
  rows: readonly Unchained[],
  sealKey: KeyObject,
): Promise<readonly ChainedRow[]> {
  const ends = new Map<string, ChainEnd>();
  for (const partition of partitionsOf(rows)) ends.set(partition, await endOf(transaction, partition));
  return rows.map((unchained) => {
    const partition = partitionOf(unchained.time);
    const end = ends.get(partition) ?? genesisOf(partition);
    const row = { ...unchained, sequence: end.sequence + 1 };
    const hash = hashOfRow(end.hash, row);
    ends.set(partition, { sequence: row.sequence, hash });
    return { row, hash, seal: sealOf(sealKey, hash) };
  });
}

/** Returns the end of the chain of a partition, or of its part before a row. */
export async function endOf(
  database: AuditDatabase | Transaction<AuditTables>,
  partition: string,
  before = Number.MAX_SAFE_INTEGER,
): Promise<ChainEnd> {
  const { from, to } = boundsOf(partition);
  const last = await database
    .selectFrom('audit_event')
    .select(['sequence', 'hash'])
    .where('time', '>=', sql<Date>`${from}::timestamptz`)
    .where('time', '<', sql<Date>`${to}::timestamptz`)
    .where('sequence', '<', String(before))
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return genesisOf(partition);
  return { sequence: Number(last.sequence), hash: Buffer.from(last.hash) };
}

const [names, types, values] = [
  [...columnNames, 'hash', 'seal'],
  [...columnNames.map((name) => `${name} ${columns[name].type}`), 'hash text', 'seal text'],
  [...columnNames, `decode(hash, 'hex')`, `decode(seal, 'hex')`],
].map((list) => sql.raw(list.join(', ')));

async function insertRows(transaction: Transaction<AuditTables>, rows: readonly ChainedRow[]) {
  const records = JSON.stringify(rows.map(recordOf));
  await sql`insert into audit_trail.audit_event (${names})
    select ${values} from json_to_recordset(${records}::json) as arrived (${types})`.execute(transaction);
}

/** Returns the values of a row by column name. Omits nulls, which are half of the columns. */
function recordOf({ row, hash, seal }: ChainedRow): Readonly<Record<string, unknown>> {
  const record: Record<string, unknown> = { hash: hash.toString('hex'), seal: seal.toString('hex') };
  for (const name of columnNames) {
    const value = name === 'order_references' ? row[name] : textOf(row, name);
    if (value !== null) record[name] = value;
  }
  return record;
}
