import { sql } from 'kysely';
import { type ActivityRow, activityTypes, openedTypes } from '../domain/activity.ts';
import { launchTypes } from '../domain/audit-row.ts';
import type { AuditDatabase } from './tables.ts';

type Period = {
  readonly from: Date;
  readonly now: Date;
  /** The length of the intervals in which events are counted. */
  readonly intervalMinutes: number;
};

/** Counts the events of a period by interval, client, type, outcome and reason. */
export type ReadActivity = (period: Period) => Promise<readonly ActivityRow[]>;

type Row = Omit<ActivityRow, 'begin' | 'count' | 'expired'> & {
  readonly begin: Date;
  readonly count: string;
  readonly expired: string;
};

/**
 * Creates the query for the page of activity. The query reads the events of the period only once. A launch has expired
 * if nobody opened it within its lifetime. One event can report several anonymous refusals.
 */
export function createActivity(database: AuditDatabase): ReadActivity {
  return async ({ from, now, intervalMinutes }) => {
    const interval = `${intervalMinutes} minutes`;
    const { rows } = await sql<Row>`
      with happened as (
        select e.time, e.client_id, e.type, e.outcome, e.reason, e.correlation_id, e.event
        from audit_trail.audit_event e
        where e.time >= ${from} and e.time <= ${now} and e.type = any(${activityTypes})
      ), opened as (
        select distinct correlation_id from happened where type = any(${openedTypes})
      )
      select date_bin(${interval}::interval, h.time, ${from}) as begin,
        h.client_id as client, h.type, h.outcome, h.reason,
        sum(case when h.outcome = 'success' then 1
          else coalesce((h.event::jsonb -> 'data' ->> 'count')::bigint, 1) end) as count,
        count(*) filter (where h.type = any(${launchTypes}) and o.correlation_id is null
          and h.time + ((h.event::jsonb -> 'data' ->> 'ttlSeconds') || ' seconds')::interval < ${now})
          as expired
      from happened h left join opened o on o.correlation_id = h.correlation_id
      group by 1, 2, 3, 4, 5`.execute(database);
    return rows.map(({ begin, count, expired, ...row }) => ({
      ...row,
      begin: begin.getTime(),
      count: Number(count),
      expired: Number(expired),
    }));
  };
}
