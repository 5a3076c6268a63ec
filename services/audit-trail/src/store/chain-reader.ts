import { type RawBuilder, sql } from 'kysely';
import { type ColumnName, columnNames, columns } from '../domain/columns.ts';
import { boundsOf, type ChainEnd, genesisOf } from '../domain/row-chain.ts';
import { endOf } from './audit-store.ts';
import type { AuditDatabase } from './tables.ts';

export type BrokenRow = {
  readonly sequence: number;
  readonly id: string;
  readonly time: string;
  readonly previous: number;
};

/** The result of comparing consecutive rows of a partition with their hashes. */
export type ChainSlice = {
  readonly rows: number;
  /** The last row of the slice. If the slice is empty, the row before the slice. */
  readonly end: ChainEnd;
  readonly broken: readonly BrokenRow[];
  /** The hash and the seal of each row, 48 bytes for each row. */
  readonly seals: Buffer;
};

/** Reads the stored chain of the log in slices. */
export type ChainReader = {
  /** Returns the names of the partitions in order. */
  partitions(): Promise<readonly string[]>;
  /** Returns the last row of a partition. */
  endOf(partition: string): Promise<ChainEnd>;
  /** Compares up to `limit` rows after the row `after` with their hashes. */
  slice(partition: string, after: ChainEnd, limit: number): Promise<ChainSlice>;
  /** Returns the hashes of the given rows by sequence number, without rows that do not exist. */
  hashesOf(partition: string, sequences: readonly number[]): Promise<ReadonlyMap<number, Buffer>>;
  /** Returns the sequence numbers of the first and the last row in a period. */
  range(partition: string, period: Period): Promise<{ first: number; last: number } | undefined>;
  /** Returns the last row before the given row. */
  before(partition: string, sequence: number): Promise<ChainEnd>;
  gaps(partition: string): Promise<readonly BrokenRow[]>;
  /** Returns the event id and time of a row, for faults that contain only its sequence number. */
  rowAt(partition: string, sequence: number): Promise<Pick<BrokenRow, 'id' | 'time'> | undefined>;
};

export type Period = { readonly from: Date; readonly to: Date };

/** Returns the SQL of a column's text for the hash. row-chain.ts creates the same text for a new row. */
function columnText(name: ColumnName): string {
  switch (columns[name].type) {
    case 'timestamptz':
      return `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
    case 'text[]':
      return `array_to_json(${name})::text`;
    case 'text':
      return name;
    default:
      return `${name}::text`;
  }
}

/**
 * The lengths of the types whose text has a fixed length. For other types, the SQL formats the value twice.
 */
const lengths: Readonly<Record<string, number>> = { uuid: 36, timestamptz: 27 };

function measured(name: ColumnName): string {
  const text = columnText(name);
  return `coalesce(${lengths[columns[name].type] ?? `octet_length(${text})`} || ':' || (${text}), '-')`;
}

/** The SQL of the text of a row. The hash of the row is computed from this text. */
export const rowTextInSql = `concat(${columnNames.map(measured).join(', ')})`;
const rowText = sql.raw(rowTextInSql);
/**
 * If the hash or the seal of a row has the wrong length, replaces both with zeros, because the row cannot be
 * genuine.
 */
const sealBytes = sql.raw(`case when octet_length(hash) = 32 and octet_length(seal) = 16 then hash || seal
  else decode(repeat('00', 48), 'hex') end`);
const timeText = sql.raw(`to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);

/** Creates the reader of the chain. */
export function createChainReader(database: AuditDatabase): ChainReader {
  const rowOf = async (partition: string, place: RawBuilder<unknown>) => {
    const { rows } = await sql<Place>`select sequence, hash, id, ${timeText} as time
      from audit_trail.audit_event where ${within(partition)} and ${place} limit 1`.execute(database);
    return rows[0];
  };
  return {
    async partitions() {
      const { rows } = await sql<{ name: string }>`select relname::text as name from pg_catalog.pg_inherits
        join pg_catalog.pg_class on pg_class.oid = inhrelid
        where inhparent = 'audit_trail.audit_event'::regclass order by relname`.execute(database);
      return rows.map(({ name }) => name);
    },
    endOf: (partition) => endOf(database, partition),
    slice: (partition, after, limit) => readSlice(database, { partition, after, limit }),
    async hashesOf(partition, sequences) {
      const { rows } = await sql<{ sequence: string; hash: Uint8Array }>`select sequence, hash
        from audit_trail.audit_event
        where ${within(partition)} and sequence = any(${sequences}::bigint[])`.execute(database);
      return new Map(rows.map(({ sequence, hash }) => [Number(sequence), Buffer.from(hash)]));
    },
    async range(partition, { from, to }) {
      const { rows } = await sql<{ first: string | null; last: string | null }>`
        select min(sequence) as first, max(sequence) as last from (
          -- Without \`offset 0\`, the planner scans the sequence numbers up to the first match.
          select sequence from audit_trail.audit_event
          where ${within(partition)} and time >= ${from} and time < ${to} offset 0) timed`.execute(database);
      const [{ first, last } = { first: null, last: null }] = rows;
      return first === null ? undefined : { first: Number(first), last: Number(last) };
    },
    async before(partition, sequence) {
      const row = await rowOf(partition, sql`sequence < ${sequence} order by sequence desc`);
      if (row === undefined) return genesisOf(partition);
      return { sequence: Number(row.sequence), hash: Buffer.from(row.hash) };
    },
    gaps: (partition) => findGaps(database, partition),
    async rowAt(partition, sequence) {
      const row = await rowOf(partition, sql`sequence = ${sequence}`);
      return row === undefined ? undefined : { id: row.id, time: row.time };
    },
  };
}

type Place = {
  readonly sequence: string;
  readonly hash: Uint8Array;
  readonly id: string;
  readonly time: string;
};

function within(partition: string): RawBuilder<boolean> {
  const { from, to } = boundsOf(partition);
  return sql<boolean>`time >= ${from}::timestamptz and time < ${to}::timestamptz`;
}

type SliceOptions = { readonly partition: string; readonly after: ChainEnd; readonly limit: number };

type ReadSlice = {
  readonly rows: number;
  readonly last: string | null;
  readonly hash: Uint8Array | null;
  readonly seals: Uint8Array | null;
  readonly broken: readonly BrokenRow[];
};

async function readSlice(
  database: AuditDatabase,
  { partition, after, limit }: SliceOptions,
): Promise<ChainSlice> {
  const { rows } = await sql<ReadSlice>`
    with slice as (
      select sequence, id, ${timeText} as time, hash, ${sealBytes} as sealed,
        coalesce(lag(sequence) over w, ${after.sequence}::bigint) as previous,
        sha256(coalesce(lag(hash) over w, ${after.hash}::bytea) || convert_to(${rowText}, 'UTF8')) as expected
      from (select * from audit_trail.audit_event
        where ${within(partition)} and sequence > ${after.sequence}::bigint
        order by sequence limit ${limit}) chosen
      window w as (order by sequence)
    )
    select count(*)::integer as rows, max(sequence) as last, string_agg(sealed, ''::bytea order by sequence) as seals,
      (select hash from slice order by sequence desc limit 1) as hash,
      coalesce(json_agg(json_build_object('sequence', sequence, 'id', id, 'time', time, 'previous', previous)
        order by sequence) filter (where hash is distinct from expected or sequence <> previous + 1), '[]') as broken
    from slice`.execute(database);
  const [{ rows: count, last, hash, seals, broken }] = rows as [ReadSlice];
  return {
    rows: count,
    end: last === null ? after : { sequence: Number(last), hash: Buffer.from(hash ?? []) },
    broken,
    seals: Buffer.from(seals ?? []),
  };
}

async function findGaps(database: AuditDatabase, partition: string): Promise<readonly BrokenRow[]> {
  const { rows } = await sql<{ count: string; last: string | null }>`
    select count(*) as count, max(sequence) as last
    from audit_trail.audit_event where ${within(partition)}`.execute(database);
  if (rows[0] === undefined || rows[0].count === (rows[0].last ?? '0')) return [];
  const { rows: gaps } = await sql<{ sequence: string; previous: string; id: string; time: string }>`
    select sequence, previous, id, ${timeText} as time from (
      select sequence, id, time, coalesce(lag(sequence) over (order by sequence), 0) as previous
      from audit_trail.audit_event where ${within(partition)}) numbered
    where sequence <> previous + 1 order by sequence`.execute(database);
  return gaps.map((gap) => ({ ...gap, sequence: Number(gap.sequence), previous: Number(gap.previous) }));
}
