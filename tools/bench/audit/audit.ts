import { readAuditKeys, sealKeyFrom } from '@clinical-launch/audit-trail/config';
import { openOperatorLog } from '@clinical-launch/audit-trail/operator-log';
import { createAuditSearch } from '@clinical-launch/audit-trail/store/audit-search';
import { openSchema } from '@clinical-launch/audit-trail/store/tables';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { sql } from 'kysely';
import { eventsOfLaunch, inventRows } from '../../../services/audit-trail/test/stored/invented-rows.ts';
import { searchesOf } from '../../../services/audit-trail/test/stored/invented-searches.ts';
import { type Bench, type BenchOptions, type Figure, quantile } from '../bench.ts';

const rowsOfBench = 10_000_000;
const rowsOfShort = 100_000;
const days = 30;
const times = 40;
/** The maximum duration of a search in milliseconds, and of the verification of one day in seconds. */
const limitMs = 100;
const limitSeconds = 10;
const dayMs = 86_400_000;
const first = new Date('2026-09-16');
const between = new Date('2026-10-01');
const issuer = 'https://idp.example/idp/north/practice/v2.0';

/** Measures searches over ten million events of thirty days, and the verification of one day. */
export const audit: Bench = {
  name: 'audit',
  async run(options) {
    // The database of an earlier run can be reused, because filling a new database takes half an hour.
    const kept = process.env['BENCH_AUDIT_DATABASE_URL'];
    const server = kept === undefined ? await startPostgres() : { url: kept, stop: async () => undefined };
    const storage = await openPostgresStorage({
      url: server.url,
      applicationName: 'bench',
      statementTimeoutMs: 7_200_000,
    });
    try {
      if (kept === undefined) await fill(storage, options);
      return [
        await measureRow(storage),
        ...(await measureSearches(storage, options)),
        await measureVerification(storage, options),
      ];
    } finally {
      await storage.close();
      await server.stop();
    }
  },
};

async function fill(storage: Storage, { short, progress }: BenchOptions): Promise<void> {
  const database = await openSchema(storage);
  const half = (short ? rowsOfShort : rowsOfBench) / 2;
  const sealKey = sealKeyFrom(readAuditKeys({}));
  const months = [
    { partition: 'audit_event_2026_09', from: first, to: between, firstLaunch: 1 },
    {
      partition: 'audit_event_2026_10',
      from: between,
      to: new Date(first.getTime() + days * dayMs),
      firstLaunch: 1 + half / eventsOfLaunch,
    },
  ];
  for (const month of months) {
    const report = (rows: number) => progress(`${month.partition}: ${rows} of ${half} rows`);
    await inventRows(database, { ...month, rows: half, sealKey, progress: report });
  }
  await sql`insert into audit_trail.launching_client (issuer, client_id)
    select ${issuer}, 'pms-' || number from generate_series(1, 4) number`.execute(database);
}

async function measureRow(storage: Storage): Promise<Figure> {
  const database = await openSchema(storage);
  const { rows } = await sql<{ bytes: number }>`select (select sum(pg_total_relation_size(inhrelid))
    from pg_catalog.pg_inherits where inhparent = 'audit_trail.audit_event'::regclass)::float8
    / count(*) as bytes from audit_trail.audit_event`.execute(database);
  return { name: 'PostgreSQL for a row', unit: 'B', values: [rows[0]?.bytes ?? Number.NaN] };
}

async function measureSearches(storage: Storage, { short, progress }: BenchOptions): Promise<Figure[]> {
  const database = await openSchema(storage);
  const search = createAuditSearch(database);
  const figures: Figure[] = [];
  for (const [name, criteria] of await searchesOf(database)) {
    progress(name);
    // The first searches read pages from the disk, so they are not measured.
    for (let round = 0; round < 3; round += 1) await search(criteria, { limit: 50 });
    const took: number[] = [];
    for (let round = 0; round < (short ? 5 : times); round += 1) {
      const startedAt = performance.now();
      await search(criteria, { limit: 50 });
      took.push(performance.now() - startedAt);
    }
    figures.push({
      name: `${name}, p95`,
      unit: 'ms',
      values: [quantile(took, 0.95)],
      goal: { atMost: limitMs },
    });
  }
  return figures;
}

async function measureVerification(storage: Storage, { progress }: BenchOptions): Promise<Figure> {
  progress('verifying one day');
  const desk = await openOperatorLog(storage, readAuditKeys({}));
  const period = { from: new Date('2026-10-05'), to: new Date('2026-10-06') };
  const startedAt = performance.now();
  const { rows, faults } = await desk.verify({ period });
  const seconds = (performance.now() - startedAt) / 1000;
  if (faults.length > 0) throw new Error(`The invented rows have ${faults.length} faults`);
  return {
    name: `verify of one day, ${rows} rows`,
    unit: 's',
    values: [seconds],
    goal: { atMost: limitSeconds },
  };
}
