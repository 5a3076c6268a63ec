import { sql } from 'kysely';
import type { AuditDatabase } from './tables.ts';

export type Progress = ReturnType<typeof createProgress>;

/** Creates the store of the progress of background work that all replicas share, by the name of the work. */
export function createProgress(database: AuditDatabase) {
  return {
    async find(name: string) {
      const row = await database
        .selectFrom('progress')
        .select(['place', 'at'])
        .where('name', '=', name)
        .executeTakeFirst();
      return row === undefined ? undefined : { place: Number(row.place), at: row.at };
    },
    async record(name: string, place: number, at: Date): Promise<void> {
      const values = { place: String(place), at };
      await database
        .insertInto('progress')
        .values({ name, ...values })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
        .execute();
    },
    /** Returns whether the work is due and no other replica has started it. If so, records its start. */
    async claim(name: string, everyMs: number, now: Date): Promise<boolean> {
      const due = new Date(now.getTime() - everyMs);
      const { rows } = await sql`insert into audit_trail.progress (name, place, at)
        values (${`claim ${name}`}, 0, ${now}) on conflict (name) do update set at = excluded.at
        where progress.at <= ${due} returning name`.execute(database);
      return rows.length > 0;
    },
    /** Releases a claim before it expires, so that any replica can claim the work at once. */
    async release(name: string): Promise<void> {
      await sql`update audit_trail.progress set at = 'epoch' where name = ${`claim ${name}`}`.execute(
        database,
      );
    },
  };
}
