import { sql } from 'kysely';
import { columnsWith, type StoredWith } from '../domain/columns.ts';
import { boundsOf } from '../domain/row-chain.ts';
import type { AuditDatabase } from './tables.ts';

export type ExportedRow = StoredWith<{ readonly attribute: string }> &
  Pick<StoredWith<unknown>, 'time' | 'trace_id'>;

export type ExportedRows = ReturnType<typeof createExportedRows>;

/** Creates the reader of the rows to export. */
export const createExportedRows = (database: AuditDatabase) => ({
  /**
   * Returns, in order, the given partitions that have rows which were not exported, each with the number of
   * its last exported row and the time of the next row. The progress of a partition has the name `<work>
   * <partition>`.
   */
  async pending(work: string, partitions: readonly string[]) {
    const bounds = partitions.map(boundsOf);
    const [starts, ends] = [bounds.map(({ from }) => from), bounds.map(({ to }) => to)];
    const { rows } = await sql<{ readonly partition: string; readonly place: string; readonly since: Date }>`
      select partition, coalesce(place, 0) as place, first.time as since
      from unnest(${partitions}::text[], ${starts}::timestamptz[], ${ends}::timestamptz[]) as month (partition, starts, ends)
      left join audit_trail.progress on name = ${`${work} `} || partition
      cross join lateral (select time from audit_trail.audit_event
        where time >= starts and time < ends and sequence > coalesce(place, 0)
        order by sequence limit 1) as first
      order by partition`.execute(database);
    return rows.map(({ place, ...row }) => ({ ...row, place: Number(place) }));
  },
  /** Returns up to `limit` rows of a partition after a sequence number, in the order of the chain. */
  after(partition: string, place: number, limit: number): Promise<readonly ExportedRow[]> {
    const { from, to } = boundsOf(partition);
    return database
      .selectFrom('audit_event')
      .select(['time', 'trace_id', ...columnsWith('attribute')])
      .where('time', '>=', sql<Date>`${from}::timestamptz`)
      .where('time', '<', sql<Date>`${to}::timestamptz`)
      .where('sequence', '>', String(place))
      .orderBy('sequence')
      .limit(limit)
      .execute();
  },
});
