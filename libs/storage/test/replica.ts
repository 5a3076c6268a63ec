// One of several processes that open the same schema at the same moment. Reports that it is ready, waits for
// the signal, and reports which migrations it ran and how many rows it found. The migrations take longer than
// the statement timeout of the process.
import { once } from 'node:events';
import { type Kysely, sql } from 'kysely';
import { openPostgresStorage } from '../src/postgres-storage.ts';

const ran: string[] = [];
const step = (name: string, statement: string) => ({
  up: async (db: Kysely<unknown>) => {
    ran.push(name);
    await sql.raw(statement).execute(db);
  },
});

const storage = await openPostgresStorage({
  url: process.argv[2] ?? '',
  applicationName: 'replica',
  statementTimeoutMs: 400,
  lockTimeoutMs: 400,
});
process.send?.('ready');
await once(process, 'message');
const database = await storage.open<{ shared: { n: number } }>('replicas', {
  '001-table': step('001-table', 'create table replicas.shared (n integer not null)'),
  '002-row': step('002-row', 'insert into replicas.shared values (1)'),
  '003-row': step('003-row', 'insert into replicas.shared select 2 from pg_sleep(0.5)'),
});
const rows = await database.selectFrom('shared').selectAll().execute();
await storage.close();
process.send?.({ ran, rows: rows.length });
process.disconnect();
