import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { type RawBuilder, sql } from 'kysely';
import type { AuditCursor, AuditEntry } from '../domain/audit-entry.ts';
import { columnsWith, entryNameOf, type StoredWith } from '../domain/columns.ts';
import {
  type AuditCriteria,
  type Column,
  type Condition,
  type Conditions,
  columnOf,
  conditionsOf,
  equal,
} from './search-conditions.ts';
import type { AuditDatabase } from './tables.ts';

export type { AuditCriteria };

export type AuditPage = {
  /** The cursor after which the page starts. Without a cursor, the page starts with the newest row. */
  readonly after?: AuditCursor | undefined;
  readonly limit: number;
};

/** Entries, newest first, and the cursor of the next page if there is one. */
export type AuditFound = { readonly entries: readonly AuditEntry[]; readonly next?: AuditCursor };

/** Finds rows by any combination of criteria, newest first. */
export type SearchAudit = (criteria: AuditCriteria, page: AuditPage) => Promise<AuditFound>;

type Row = StoredWith<{ readonly entry: string }>;

/** Creates the search over the log. */
export function createAuditSearch(database: AuditDatabase): SearchAudit {
  return async (criteria, { after, limit }) => {
    const conditions = await conditionsOf(database, criteria);
    if (conditions === undefined) return { entries: [] };
    // Reads one row more than the page contains, to know whether there is a next page.
    const page = { after, limit: limit + 1 };
    const found = await withPlans(database, criteria, async (connection) => {
      const { rows } = await ownRows(criteria, conditions, page).execute(connection);
      const late = await lateRows(criteria, conditions, { ...page, found: rows })?.execute(connection);
      return newestOf([...rows, ...(late?.rows ?? [])]);
    });
    const entries = found.slice(0, limit).map(entryOf);
    const last = entries.at(-1);
    return last === undefined || found.length <= limit
      ? { entries }
      : { entries, next: { time: last.time, sequence: last.sequence } };
  };
}

/** Reads the events of launches and requests by their GUIDs, newest first, up to `limit` events in all. */
export type ReadLaunches = (guids: readonly string[], limit: number) => Promise<readonly AuditEntry[]>;

/** Creates the reader of whole launches. */
export function createLaunchReader(database: AuditDatabase): ReadLaunches {
  return async (guids, limit) => {
    const arm = (column: Column) => sql<Row>`(select ${columns} from audit_trail.audit_event e
      where ${columnOf('e', column)} = any(${[...guids]}::uuid[]) order by e.time desc, e.sequence desc limit ${limit})`;
    const { rows } = await sql<Row>`${arm('correlation_id')} union ${arm('launch_id')}
      order by time desc, sequence desc limit ${limit}`.execute(database);
    return rows.map(entryOf);
  };
}

/**
 * Forces the planner to scan indexes in order of time until a page is full. By default it intersects bitmaps
 * of whole months, which takes up to half a second. Only the index of order references needs bitmaps.
 */
const withPlans = <Found>(
  database: AuditDatabase,
  { orderReference }: AuditCriteria,
  work: (connection: AuditDatabase) => Promise<Found>,
): Promise<Found> =>
  orderReference !== undefined
    ? work(database)
    : database.transaction().execute(async (transaction) => {
        await sql`select set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(
          transaction,
        );
        return work(transaction);
      });

const newestOf = (rows: readonly Row[]) =>
  rows.toSorted(
    (one, other) =>
      other.time.getTime() - one.time.getTime() || Number(other.sequence) - Number(one.sequence),
  );

const returned = columnsWith('entry');
const inherited: readonly Column[] = columnsWith('inheritedWith');

const columns = sql.join(returned.map((column) => sql`${columnOf('e', column)}`));
const completed = sql.join(
  returned.map((column) =>
    inherited.includes(column)
      ? sql`coalesce(${columnOf('e', column)}, ${columnOf('l', column)}) as ${sql.ref(column)}`
      : sql`${columnOf('e', column)}`,
  ),
);

const all = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql<boolean>`true` : sql.join([...conditions], sql` and `);

const placeOf = ({ time, sequence }: AuditCursor) => sql`(${time}, ${sequence}::bigint)`;
const before = (after: AuditCursor | undefined): Condition[] =>
  after === undefined ? [] : [sql<boolean>`(e.time, e.sequence) < ${placeOf(after)}`];

/**
 * Returns the query for rows whose own columns match, without details of their launch. Each arm of the union
 * uses its own index.
 */
function ownRows(
  { correlationId }: Pick<AuditCriteria, 'correlationId'>,
  { launch, own }: Conditions,
  { after, limit }: AuditPage,
): RawBuilder<Row> {
  const matches = [
    ...launch.map(([column, value]) => equal('e', column, value)),
    ...own('e'),
    ...before(after),
  ];
  const arm = (...more: readonly Condition[]) => sql<Row>`(select ${columns} from audit_trail.audit_event e
    where ${all([...more, ...matches])} order by e.time desc, e.sequence desc limit ${limit})`;
  if (correlationId === undefined) return arm();
  const byCorrelation = arm(equal('e', 'correlation_id', correlationId));
  return sql<Row>`${byCorrelation} union all ${arm(equal('e', 'launch_id', correlationId))}
    order by time desc, sequence desc limit ${limit}`;
}

/**
 * The maximum number of days between the start of a launch and one of its events that was stored before the
 * launch.
 */
const lateDays = 14;

/**
 * Returns the query for events that were stored before their launch and match only by the details of the
 * launch. Returns undefined if the search needs no such query. The query reads only rows that belong on the
 * page.
 */
function lateRows(
  { correlationId }: Pick<AuditCriteria, 'correlationId'>,
  { launch, own }: Conditions,
  { after, limit, found }: AuditPage & { readonly found: readonly Row[] },
): RawBuilder<Row> | undefined {
  if (launch.length === 0 || correlationId !== undefined) return undefined;
  const last = found.length < limit ? undefined : found.at(-1);
  const onPage = last === undefined ? [] : [sql<boolean>`(e.time, e.sequence) > ${placeOf(last)}`];
  const fitting = launch.map(
    ([column, value]) => sql<boolean>`(${columnOf('e', column)} is null or ${equal('e', column, value)})`,
  );
  const lacking = launch.map(([column]) => sql<boolean>`${columnOf('e', column)} is null`);
  const ofLaunch = [
    sql<boolean>`l.is_late`,
    ...launch.map(([column, value]) => equal('l', column, value)),
    ...(last === undefined ? [] : [sql<boolean>`l.time >= ${last.time}::timestamptz - ${lateTime}`]),
  ];
  const ofEvent = [
    ...fitting,
    sql<boolean>`(${sql.join(lacking, sql` or `)})`,
    ...own('e'),
    ...before(after),
    ...onPage,
  ];
  // Without `offset 0`, the planner may join by scanning all events.
  return sql<Row>`select ${completed} from audit_trail.audit_event l, lateral (
      select * from audit_trail.audit_event inherits where inherits.correlation_id = l.correlation_id
        and inherits.time >= l.time - interval '1 day' and inherits.time < l.time + ${lateTime} offset 0
    ) e where ${all([...ofLaunch, ...ofEvent])} order by e.time desc, e.sequence desc limit ${limit}`;
}

const lateTime = sql`make_interval(days => ${sql.lit(lateDays)})`;

const entryOf = (row: Row): AuditEntry => {
  const members = returned.map((name) => [entryNameOf(name), row[name]]);
  return { ...(Object.fromEntries(members) as AuditEntry), event: JSON.parse(row.event) as CloudEvent };
};
