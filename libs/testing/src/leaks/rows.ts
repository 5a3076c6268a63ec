import type pg from 'pg';
import { leakSearch } from './search.ts';

/** Of a table. Where a test has more, it invented them: a service wrote less. */
const searchedRows = 10_000;

/** Shows the search the rows of the audit trail and of the outboxes of a database. */
export async function searchRows(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ name: string; isAudit: boolean }>(
    `select c.oid::regclass::text as name, nspname = 'audit_trail' and relname <> 'outbox' as "isAudit"
     from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'p') and not relispartition and (nspname = 'audit_trail' or relname = 'outbox')`,
  );
  for (const { name, isAudit } of tables) {
    for (const row of await rowsOf(client, name, searchedRows)) {
      leakSearch().observe(isAudit ? 'an audit row' : 'an outbox row', row);
    }
  }
}

/** Returns the rows of a table, as JSON: each, or some of them. */
export async function rowsOf(client: pg.Client, table: string, limit?: number): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    `select to_jsonb(t)::text as row from ${table} t limit $1`,
    [limit],
  );
  return rows.map(({ row }) => row);
}
