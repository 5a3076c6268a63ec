import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { columnNames } from '../../src/domain/columns.ts';
import { boundsOf, genesisOf } from '../../src/domain/row-chain.ts';
import { rowTextInSql } from '../../src/store/chain-reader.ts';
import type { AuditDatabase } from '../../src/store/tables.ts';

/** Invented launches of one month. The database itself creates their rows, millions in minutes. */
export type Invention = {
  readonly partition: string;
  readonly from: Date;
  readonly to: Date;
  readonly rows: number;
  /** The number of the first launch. Different numbers give different rows. */
  readonly firstLaunch: number;
  readonly sealKey: KeyObject;
  readonly progress?: (rows: number) => void;
};

/** The number of events of each invented launch. The last two have correlation IDs of their own. */
export const eventsOfLaunch = 8;
const rowsAtOnce = 200_000;
const blockBytes = 64;

/**
 * Fills an empty partition with rows that `verify` accepts. Fills a detached table, and creates its indexes
 * afterwards, because a million rows would otherwise take a minute.
 */
export async function inventRows(database: AuditDatabase, invention: Invention): Promise<void> {
  const { partition, rows, progress } = invention;
  await createChain(database);
  await sql`create table audit_trail.invented (like audit_trail.audit_event)`.execute(database);
  let previous = genesisOf(partition).hash;
  for (let first = 1; first <= rows; first += rowsAtOnce) {
    const last = Math.min(rows, first + rowsAtOnce - 1);
    await insertSlice(database, { ...invention, first, last, previous });
    const end = await sql<{ hash: Uint8Array }>`select hash from audit_trail.invented
      where ctid = (select max(ctid) from audit_trail.invented)`.execute(database);
    previous = Buffer.from(end.rows[0]?.hash ?? []);
    progress?.(last);
  }
  await attach(database, partition);
}

/** Creates the hash chain as an aggregate, so that it can run over the rows as a window function. */
async function createChain(database: AuditDatabase): Promise<void> {
  await sql`create or replace function audit_trail.next_hash(state bytea, previous bytea, text text) returns bytea
    language plpgsql immutable as $$
    begin
      return sha256(coalesce(state, previous) || convert_to(text, 'UTF8'));
    end $$`.execute(database);
  await sql`create or replace aggregate audit_trail.chain(bytea, text)
    (sfunc = audit_trail.next_hash, stype = bytea)`.execute(database);
}

async function attach(database: AuditDatabase, partition: string): Promise<void> {
  const { from, to } = boundsOf(partition);
  const own = sql.id('audit_trail', partition);
  await sql`select audit_trail.ensure_partition(${partition})`.execute(database);
  await sql`alter table audit_trail.audit_event detach partition ${own}`.execute(database);
  await sql`drop table ${own}`.execute(database);
  await sql`alter table audit_trail.invented rename to ${sql.id(partition)}`.execute(database);
  await sql`create unique index on ${own} (sequence)`.execute(database);
  await sql`create trigger append_only before update or delete or truncate on ${own}
    for each statement execute function audit_trail.refuse_change()`.execute(database);
  await sql`alter table audit_trail.audit_event attach partition ${own}
    for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(database);
  await sql`vacuum analyze ${own}`.execute(database);
}

/** Returns the two padded keys of HMAC (RFC 2104), because the database has only SHA-256. */
function hmacPads(sealKey: KeyObject): { inner: Buffer; outer: Buffer } {
  const key = sealKey.export();
  const padded = Buffer.concat([key, Buffer.alloc(blockBytes - key.length)]);
  return {
    inner: padded.map((byte) => byte ^ 0x36) as Buffer,
    outer: padded.map((byte) => byte ^ 0x5c) as Buffer,
  };
}

type Slice = Invention & { readonly first: number; readonly last: number; readonly previous: Buffer };

async function insertSlice(
  database: AuditDatabase,
  { from, to, rows, firstLaunch, sealKey, first, last, previous }: Slice,
): Promise<void> {
  const { inner, outer } = hmacPads(sealKey);
  const stepMs = (to.getTime() - from.getTime()) / rows;
  await sql`insert into audit_trail.invented (${names}, hash, seal)
    select ${names}, hash, substring(sha256(${outer}::bytea || sha256(${inner}::bytea || hash)) for 16)
    from (select *, audit_trail.chain(${previous}::bytea, ${sql.raw(rowTextInSql)}) over (order by sequence) as hash
      from (${inventedRows({ from, stepMs, firstLaunch, first, last })}) invented) chained
    order by sequence`.execute(database);
}

const names = sql.raw(columnNames.join(', '));

type Numbers = {
  readonly from: Date;
  readonly stepMs: number;
  readonly firstLaunch: number;
  readonly first: number;
  readonly last: number;
};

/** Events 0 to 5 belong to the launch. Event 6, an access token, and 7, a refusal, are separate requests. */
const types = [
  'launch.url.issued.v1',
  'launch.token.redeemed.v1',
  'order.viewed.v1',
  'order.submitted.v1',
  'order.document.rendered.v1',
  'order.document.delivered.v1',
  'access.token.issued.v1',
  'launch.url.refused.v1',
];
const sources = [
  'launch-api',
  'launch-gateway',
  'ordering',
  'ordering',
  'order-renderer',
  'order-renderer',
  'identity-provider',
  'launch-api',
];

/** One launch in 20 belongs to a large practice, and one in 500 is stored after its second event. */
const inventedRows = ({ from, stepMs, firstLaunch, first, last }: Numbers) => sql`
  with numbered as (
    select i as sequence, (i - 1) % ${sql.lit(eventsOfLaunch)} as k, ${firstLaunch}::bigint + (i - 1) / ${sql.lit(eventsOfLaunch)} as launch
    from generate_series(${first}::bigint, ${last}::bigint) i
  ), drawn as (
    select *, (launch * 2654435761) % 4294967296 as h, k in (0, 2, 3, 4, 5, 7) or (k = 1 and launch % 500 <> 0) as knows_launch,
      case when k < 6 then md5('launch' || launch)::uuid else md5('request' || launch || ' ' || k)::uuid end as correlation_id,
      date_trunc('milliseconds', ${from}::timestamptz + make_interval(secs => (sequence - 1) * ${stepMs}::float8 / 1000)) as time
    from numbered
  ), known as (
    select *,
      case when h % 100 < 5 then 'B00001' else 'P' || lpad((h / 100 % 6500)::text, 5, '0') end as its_practice,
      (array['pms-1', 'pms-1', 'pms-1', 'pms-1', 'pms-1', 'pms-1', 'pms-2', 'pms-2', 'pms-3', 'pms-4'])[h / 13 % 10 + 1] as its_client,
      (array['OrderTest', 'OrderTest', 'OrderTest', 'OrderTest', 'OrderTest', 'OrderTest', 'UpdateTest', 'PatientSampleQueue',
        'PatientReport', 'LocationSampleQueue'])[h / 17 % 10 + 1] as its_action,
      translate(rtrim(encode(sha256(convert_to('patient' || h % 400000, 'UTF8')), 'base64'), '='), '+/', '-_') as its_patient,
      (array[${sql.join(types)}])[k + 1] as type, (array[${sql.join(sources)}])[k + 1] as its_source
    from drawn
  ), told as (
    select *,
      its_practice || '.user.' || (h / 7 % case when its_practice = 'B00001' then 400 else 8 end) as its_user,
      case when k <> 7 then 'success' when launch % 50 = 0 then 'failed' else 'refused' end as outcome
    from known
  )
  select sequence, md5('event' || launch || ' ' || k)::uuid as id, time, correlation_id,
    case when k = 7 and launch % 3 = 0 then md5('launch' || launch)::uuid end as launch_id,
    md5('trace' || launch) as trace_id, '/' || its_source as source, type, outcome,
    case when k = 7 then 'reason_' || case when h % 5000 = 0 then 19 else h / 19 % 19 end end as reason,
    case when k = 7 then case when outcome = 'failed' then 503 else 400 end end as status,
    case when knows_launch or k = 6 then 'https://idp.example/idp/north/practice/v2.0' end as issuer,
    case when knows_launch or k = 6 then its_client end as client_id,
    case when knows_launch then its_user end as user_name,
    case when knows_launch then lower(its_user) end as user_key,
    case when knows_launch then 'Dr ' || its_user end as user_display,
    case when knows_launch then its_practice end as practice,
    case when knows_launch then 'Practice ' || its_practice end as practice_name,
    case when knows_launch then its_patient end as patient,
    '192.0.2.' || h % 250 as address,
    case when knows_launch then its_action end as action,
    case when k in (2, 3, 4, 5) then md5('order' || launch)::uuid end as order_guid,
    case when k = 3 then array['LAB' || launch * 2, 'LAB' || launch * 2 + 1] end as order_references,
    case when k = 0 then translate(rtrim(encode(sha256(convert_to('["https://idp.example/idp/north/practice/v2.0","'
      || its_client || '","caller ' || launch || '"]', 'UTF8')), 'base64'), '='), '+/', '-_') end as originating_id,
    k = 0 and launch % 500 = 0 as is_late,
    concat('{"specversion":"1.0","id":"', md5('event' || launch || ' ' || k)::uuid, '","source":"/', its_source, '","type":"', type,
      '","time":"', to_char(time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '","datacontenttype":"application/json","correlationid":"',
      correlation_id, '","traceparent":"00-', md5('trace' || launch), '-', substr(md5(sequence::text), 1, 16), '-01","data":{"clientId":"', its_client,
      '","issuer":"https://idp.example/idp/north/practice/v2.0","action":"', its_action, '","user":{"username":"', its_user,
      '","name":"Dr ', its_user, '"},"practice":{"code":"', its_practice, '","name":"Practice ', its_practice, '"},"patient":"', its_patient,
      '","address":"192.0.2.', h % 250, '"}}') as event
  from told`;
