import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { LaunchRequest } from '@clinical-launch/contracts';
import { openOrderingDatabase, readCatalogue } from '@clinical-launch/ordering';
import { openPostgresStorage } from '@clinical-launch/storage';
import { startPostgres } from '@clinical-launch/testing';
import { inventPatient, inventRequests } from '../../services/ordering/test/stored/invented-requests.ts';
import { seedRequests, settle } from '../../services/ordering/test/stored/seed.ts';
import { type Launch, startService } from './running-service.ts';
import { type Scenario, type Stored, scenariosOf } from './scenarios.ts';

/**
 * Measures the lists of requests with few and with very many stored requests: the real service, in a separate
 * process, over HTTP, on a separate PostgreSQL with its default settings. Prints tables and writes
 * `bench-results.json`.
 */

const few = 1_000;
const many = 100_000;
/** The number of requests of a single patient, and of each practice other than the large one. */
const ofSingle = 2_000;
const ofOthers = 9_000;
const timesEach = 100;
const warmUpEach = 10;
const usersAtOnce = 8;
/** The limit for the 95th percentile of a page, in milliseconds. */
const limitMs = 100;

type Timing = { readonly page: string; readonly p50: number; readonly p95: number; readonly max: number };

const practiceOf = (value: string, name: string): LaunchRequest['practice'] => ({
  identifier: { system: 'ods-organization-code', value },
  name,
});
const large = practiceOf('B82017', 'Harbour Surgery');
const single = practiceOf('B82018', 'Quayside Surgery');
const others = [practiceOf('B82019', 'Abbey Practice'), practiceOf('B82020', 'Moorland Practice')];

async function measure(count: number) {
  const server = await startPostgres();
  try {
    const storage = await openPostgresStorage({
      url: server.url,
      applicationName: 'seed',
      statementTimeoutMs: 600_000,
    });
    const database = await openOrderingDatabase(storage);
    const startedAt = performance.now();
    await seed(database, count);
    const seededSeconds = Math.round((performance.now() - startedAt) / 1000);
    const scenarios = await scenariosOf({ database, large, single });
    await storage.close();
    return { requests: count, seededSeconds, ...(await measureService(server.url, scenarios)) };
  } finally {
    await server.stop();
  }
}

async function seed(database: Stored['database'], count: number): Promise<void> {
  const catalogue = readCatalogue();
  const newest = new Date();
  const share = count / many;
  const inventions = [
    { practice: large, count, firstNumber: 1 },
    { practice: single, count: ofSingle * share, patients: 1, firstNumber: 400_000 },
    ...others.map((practice, index) => ({
      practice,
      count: ofOthers * share,
      firstNumber: 500_000 + index * 100_000,
    })),
  ];
  for (const invention of inventions) {
    await seedRequests(database, inventRequests({ ...invention, catalogue, newest }));
  }
  await settle(database);
}

async function measureService(url: string, scenarios: readonly Scenario[]) {
  const service = await startService(url);
  try {
    const opened: { scenario: Scenario; launch: Launch }[] = [];
    for (const scenario of scenarios) opened.push({ scenario, launch: await open(service, scenario) });
    const visits = opened.map(
      ({ scenario: { path = 'requests' }, launch }) =>
        () =>
          launch.page(path),
    );
    for (const visit of visits) await visit();
    const before = await service.memory();
    const timings: Timing[] = [];
    for (const [index, { scenario }] of opened.entries()) {
      timings.push(await timed(scenario.name, visits.slice(index, index + 1)));
    }
    const pagesPerSecond = await measureThroughput(visits);
    return { timings, pagesPerSecond, memory: { before, after: await service.memory() } };
  } finally {
    await service.stop();
  }
}

async function open(service: Awaited<ReturnType<typeof startService>>, scenario: Scenario): Promise<Launch> {
  const { action, practice: from, patient = inventPatient(from, 0), search = '', priority } = scenario;
  const launch = await service.launch({
    action,
    originatingId: 'none',
    authoredOn: new Date().toISOString(),
    author: { username: 'a.okonkwo', name: { title: 'Dr', family: 'Okonkwo', given: ['Adaeze'] } },
    patient,
    requester: {
      identifier: { system: 'professional-code', value: 'G8134567' },
      name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
    },
    practice: from,
    performer: { identifier: { system: 'performing-org', value: 'RCB00' }, name: 'North Coast Pathology' },
  });
  if (search !== '' || priority !== undefined) {
    await launch.post('requests', { q: search, priority: priority ?? 'any', action: 'search' });
  }
  return launch;
}

async function timed(page: string, visits: readonly (() => Promise<unknown>)[]): Promise<Timing> {
  const times: number[] = [];
  for (let round = -warmUpEach; round < timesEach; round += 1) {
    for (const visit of visits) {
      const startedAt = performance.now();
      await visit();
      if (round >= 0) times.push(performance.now() - startedAt);
    }
  }
  return summary(page, times);
}

/** Requests pages of all kinds without a pause, as several users would. */
async function measureThroughput(visits: readonly (() => Promise<unknown>)[]): Promise<number> {
  const all = Array.from({ length: timesEach / 5 }, () => visits).flat();
  const queue = all.values();
  const work = async () => {
    for (const visit of queue) await visit();
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: usersAtOnce }, work));
  return Math.round((all.length * 1000) / (performance.now() - startedAt));
}

function summary(page: string, times: readonly number[]): Timing {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => {
    const time = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return Math.round(time * 10) / 10;
  };
  return { page, p50: at(0.5), p95: at(0.95), max: at(1) };
}

const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10;

const results = [await measure(few), await measure(many)];
for (const { requests, seededSeconds, timings, pagesPerSecond, memory } of results) {
  console.log(
    `\n${requests.toLocaleString('en-GB')} requests in one practice (stored in ${seededSeconds} s), ms`,
  );
  console.table(Object.fromEntries(timings.map(({ page, ...times }) => [page, times])));
  console.log(`${usersAtOnce} users at once: ${pagesPerSecond} pages a second`);
  for (const [when, { rss, heapUsed }] of Object.entries(memory)) {
    console.log(
      `memory of the service ${when}: ${megabytes(rss)} MB, of which alive ${megabytes(heapUsed)} MB`,
    );
  }
}
const [small, big] = results.map(({ memory }) => memory.after.rss);
const memoryRatio = Math.round(((big ?? 0) / (small ?? 1)) * 100) / 100;
const slow = results.flatMap(({ timings }) => timings.filter(({ p95 }) => p95 >= limitMs));
console.log(`memory with ${many} requests to that with ${few}: ${memoryRatio}`);
console.log(
  slow.length === 0
    ? `every page within ${limitMs} ms (p95)`
    : `too slow: ${slow.map(({ page }) => page).join(', ')}`,
);

const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
const file = fileURLToPath(new URL('../../bench-results.json', import.meta.url));
writeFileSync(
  file,
  `${JSON.stringify({ at: new Date().toISOString(), machine, limitMs, memoryRatio, results }, null, 2)}\n`,
);
if (slow.length > 0) process.exitCode = 1;
