import type pg from 'pg';
import { leakSearch } from './search.ts';

/** Shows the search all rows of the audit trail and of the outboxes of a database. */
export async function searchRows(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ name: string; isAudit: boolean }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name,
       table_schema = 'audit_trail' and table_name <> 'outbox' as "isAudit"
     from information_schema.tables
     where table_type = 'BASE TABLE' and (table_schema = 'audit_trail' or table_name = 'outbox')`,
  );
  for (const { name, isAudit } of tables) {
    for (const row of await rowsOf(client, name)) {
      leakSearch().observe(isAudit ? 'an audit row' : 'an outbox row', row);
    }
  }
}

/** Returns each row of a table, as JSON. */
export async function rowsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t`);
  return rows.map(({ row }) => row);
}
