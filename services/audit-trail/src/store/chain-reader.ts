import { type RawBuilder, sql } from 'kysely';
import { type ColumnName, columnNames, columns } from '../domain/columns.ts';
import { boundsOf, type ChainEnd } from '../domain/row-chain.ts';
import { endOf } from './audit-store.ts';
import type { AuditDatabase } from './tables.ts';

/** A row whose hash does not match, or which does not follow the previous row. */
export type BrokenRow = { readonly sequence: number; readonly previous: number };

/** The result of comparing consecutive rows of a partition with their hashes. */
export type ChainSlice = {
  readonly rows: number;
  /** The last row of the slice. If the slice is empty, the row before the slice. */
  readonly end: ChainEnd;
  readonly broken: readonly BrokenRow[];
  /** The hash (32 bytes), the seal (16 bytes) and the sequence number (8 bytes) of each row. */
  readonly seals: Buffer;
};

export type ChainReader = ReturnType<typeof createChainReader>;

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
  else decode(repeat('00', 48), 'hex') end || int8send(sequence)`);

/** Creates the reader of the stored chain of the log. */
export function createChainReader(database: AuditDatabase) {
  return {
    /** Returns the names of the partitions in order. */
    async partitions(): Promise<readonly string[]> {
      const { rows } = await sql<{ name: string }>`select relname::text as name from pg_catalog.pg_inherits
        join pg_catalog.pg_class on pg_class.oid = inhrelid
        where inhparent = 'audit_trail.audit_event'::regclass order by relname`.execute(database);
      return rows.map(({ name }) => name);
    },
    endOf: (partition: string, before?: number) => endOf(database, partition, before),
    /** Compares up to `limit` rows after the row `after` with their hashes. */
    slice: (partition: string, after: ChainEnd, limit: number) =>
      readSlice(database, { partition, after, limit }),
    /** Returns the given rows by sequence number, without rows that do not exist. */
    async rowsAt(partition: string, sequences: readonly number[]) {
      const { rows } = await sql<{ sequence: string; hash: Uint8Array; id: string; time: Date }>`
        select sequence, hash, id, time from audit_trail.audit_event
        where ${within(partition)} and sequence = any(${sequences}::bigint[])`.execute(database);
      return new Map(
        rows.map(({ sequence, id, time, hash }) => [
          Number(sequence),
          { id, time: time.toISOString(), hash: Buffer.from(hash) },
        ]),
      );
    },
    /** Returns the sequence numbers of the first and the last row in a period. */
    async range(partition: string, { from, to }: Period) {
      const { rows } = await sql<{ first: string | null; last: string | null }>`
        select min(sequence) as first, max(sequence) as last from (
          -- Without \`offset 0\`, the planner scans the sequence numbers up to the first match.
          select sequence from audit_trail.audit_event
          where ${within(partition)} and time >= ${from} and time < ${to} offset 0) timed`.execute(database);
      const [{ first, last } = { first: null, last: null }] = rows;
      return first === null ? undefined : { first: Number(first), last: Number(last) };
    },
    /** Returns the rows before which rows are missing. */
    async gaps(partition: string): Promise<readonly BrokenRow[]> {
      const { rows } = await sql<{ sequence: string; previous: string }>`
        select sequence, previous from (
          select sequence, coalesce(lag(sequence) over (order by sequence), 0) as previous
          from audit_trail.audit_event where ${within(partition)}) numbered
        where sequence <> previous + 1 order by sequence`.execute(database);
      return rows.map((gap) => ({ sequence: Number(gap.sequence), previous: Number(gap.previous) }));
    },
  };
}

function within(partition: string): RawBuilder<boolean> {
  const { from, to } = boundsOf(partition);
  return sql<boolean>`time >= ${from}::timestamptz and time < ${to}::timestamptz`;
}

type ReadSlice = {
  readonly rows: number;
  readonly last: string | null;
  readonly hash: Uint8Array | null;
  readonly seals: Uint8Array | null;
  readonly broken: readonly BrokenRow[];
};

async function readSlice(
  database: AuditDatabase,
  { partition, after, limit }: { partition: string; after: ChainEnd; limit: number },
): Promise<ChainSlice> {
  const { rows } = await sql<ReadSlice>`
    with slice as (
      select sequence, hash, ${sealBytes} as sealed,
        coalesce(lag(sequence) over w, ${after.sequence}::bigint) as previous,
        sha256(coalesce(lag(hash) over w, ${after.hash}::bytea) || convert_to(${rowText}, 'UTF8')) as expected
      from (select * from audit_trail.audit_event
        where ${within(partition)} and sequence > ${after.sequence}::bigint
        order by sequence limit ${limit}) chosen
      window w as (order by sequence)
    )
    select count(*)::integer as rows, max(sequence) as last, string_agg(sealed, ''::bytea order by sequence) as seals,
      (select hash from slice order by sequence desc limit 1) as hash,
      coalesce(json_agg(json_build_object('sequence', sequence, 'previous', previous)
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
