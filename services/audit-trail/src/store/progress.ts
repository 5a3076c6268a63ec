import { sql } from 'kysely';
import type { AuditDatabase } from './tables.ts';

/** The progress of background work that all replicas share, by the name of the work. */
export type Progress = {
  find(name: string): Promise<{ readonly place: number; readonly at: Date } | undefined>;
  record(name: string, place: number, at: Date): Promise<void>;
  /** Returns whether the work is due and no other replica has started it. If so, records its start. */
  claim(name: string, everyMs: number, now: Date): Promise<boolean>;
  /** Releases a claim before it expires, so that any replica can claim the work at once. */
  release(name: string): Promise<void>;
};

/** Creates the store of background work's progress. */
export function createProgress(database: AuditDatabase): Progress {
  return {
    async find(name) {
      const row = await database
        .selectFrom('progress')
        .select(['place', 'at'])
        .where('name', '=', name)
        .executeTakeFirst();
      return row === undefined ? undefined : { place: Number(row.place), at: row.at };
    },
    async record(name, place, at) {
      const values = { place: String(place), at };
      await database
        .insertInto('progress')
        .values({ name, ...values })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
        .execute();
    },
    async claim(name, everyMs, now) {
      const due = new Date(now.getTime() - everyMs);
      const { rows } = await sql`insert into audit_trail.progress (name, place, at)
        values (${`claim ${name}`}, 0, ${now}) on conflict (name) do update set at = excluded.at
        where progress.at <= ${due} returning name`.execute(database);
      return rows.length > 0;
    },
    async release(name) {
      await sql`update audit_trail.progress set at = 'epoch' where name = ${`claim ${name}`}`.execute(
        database,
      );
    },
  };
}
