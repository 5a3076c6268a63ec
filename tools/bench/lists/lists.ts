import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { readCatalogue } from '@clinical-launch/ordering/catalogue-file';
import { openOrderingDatabase } from '@clinical-launch/ordering/store/database';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { sql } from 'kysely';
import {
  client,
  inventPatient,
  inventRequests,
} from '../../../services/ordering/test/stored/invented-requests.ts';
import { seedRequests, settle } from '../../../services/ordering/test/stored/seed.ts';
import { type Bench, type Figure, quantile } from '../bench.ts';
import { type Scenario, type Stored, scenariosOf } from './scenarios.ts';

/** A launch session in a browser that does not follow redirects. */
type Launch = {
  /** Fetches a page below the launch. @throws Error unless the answer is 200 */
  page(path: string): Promise<string>;
  /** Posts a form below the launch. @throws Error unless the answer is 303 */
  post(path: string, fields: Record<string, string>): Promise<void>;
};

async function startService(databaseUrl: string) {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The service exited');
  });
  const answer = async (): Promise<string> => {
    const [reported] = await Promise.race([once(child, 'message'), ended]);
    return reported;
  };
  const url = await answer();
  return {
    async launch(request: LaunchRequest): Promise<Launch> {
      const launchId = randomUUID();
      const context: LaunchContext = {
        launchId,
        issuedAt: Date.now(),
        client: { ...client, frameAncestors: [] },
        request,
      };
      child.send(context);
      return launchOf({ url, launchId, cookie: `__Secure-launch-session=${await answer()}` });
    },
    async stop() {
      child.kill();
      await ended.catch(() => undefined);
    },
  };
}

function launchOf({ url, launchId, cookie }: { url: string; launchId: string; cookie: string }): Launch {
  const base = `${url}/oltr/${launchId}/`;
  let cookies = cookie;
  const send = async (path: string, wanted: number, init: RequestInit = {}) => {
    const headers = { cookie: cookies };
    const response = await fetch(new URL(path, base), { redirect: 'manual', headers, ...init });
    // The first page of a launch sets the cookie of the browser.
    const browser = response.headers.getSetCookie().find((sent) => sent.startsWith('__Secure-browser='));
    if (browser !== undefined) cookies = `${cookie}; ${browser.split(';', 1)[0]}`;
    const text = await response.text();
    if (response.status !== wanted) throw new Error(`${path} was answered ${response.status}`);
    return text;
  };
  return {
    page: (path) => send(path, 200),
    async post(path, fields) {
      const body = new URLSearchParams({ launch: launchId, ...fields });
      await send(path, 303, { method: 'POST', body });
    },
  };
}

const few = 1_000;
const many = 100_000;
/** The number of requests of a single patient, and of each practice other than the large practice. */
const ofSingle = 2_000;
const ofOthers = 9_000;
const warmUpEach = 10;
const usersAtOnce = 8;
/** The limit for the 95th percentile of a page, in milliseconds. */
const limitMs = 100;

type Timing = { readonly page: string; readonly times: readonly number[] };

const practiceOf = (value: string, name: string): LaunchRequest['practice'] => ({
  identifier: { system: 'ods-organization-code', value },
  name,
});
const large = practiceOf('B82017', 'Harbour Surgery');
const single = practiceOf('B82018', 'Quayside Surgery');
const others = [practiceOf('B82019', 'Abbey Practice'), practiceOf('B82020', 'Moorland Practice')];

async function measure(count: number, timesEach: number) {
  const server = await startPostgres();
  try {
    const storage = await openPostgresStorage({
      url: server.url,
      applicationName: 'seed',
      statementTimeoutMs: 600_000,
    });
    const database = await openOrderingDatabase(storage);
    await seed(database, count);
    const scenarios = await scenariosOf({ database, large, single });
    const bytes = await bytesOfRequest(database);
    await storage.close();
    return { requests: count, bytes, ...(await measureService(server.url, scenarios, timesEach)) };
  } finally {
    await server.stop();
  }
}

/** Returns the bytes that PostgreSQL needs for a request and its submission, with their indexes. */
async function bytesOfRequest(database: Stored['database']): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select (pg_total_relation_size('ordering.test_requests')
    + pg_total_relation_size('ordering.submissions'))::float8 / count(*) as bytes
    from ordering.test_requests`.execute(database);
  return rows[0]?.bytes ?? Number.NaN;
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

async function measureService(url: string, scenarios: readonly Scenario[], timesEach: number) {
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
    const timings: Timing[] = [];
    for (const [index, { scenario }] of opened.entries()) {
      timings.push(await timed(scenario.name, visits.slice(index, index + 1), timesEach));
    }
    const pagesPerSecond = await measureThroughput(visits, timesEach / 5);
    return { timings, pagesPerSecond };
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

async function timed(
  page: string,
  visits: readonly (() => Promise<unknown>)[],
  timesEach: number,
): Promise<Timing> {
  const times: number[] = [];
  for (let round = -warmUpEach; round < timesEach; round += 1) {
    for (const visit of visits) {
      const startedAt = performance.now();
      await visit();
      if (round >= 0) times.push(performance.now() - startedAt);
    }
  }
  return { page, times };
}

async function measureThroughput(
  visits: readonly (() => Promise<unknown>)[],
  times: number,
): Promise<number> {
  const all = Array.from({ length: times }, () => visits).flat();
  const queue = all.values();
  const work = async () => {
    for (const visit of queue) await visit();
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: usersAtOnce }, work));
  return Math.round((all.length * 1000) / (performance.now() - startedAt));
}

function figuresOf({ requests, bytes, timings, pagesPerSecond }: Awaited<ReturnType<typeof measure>>) {
  const among = `${requests.toLocaleString('en-GB')} requests in one practice`;
  const pages = timings.flatMap(({ page, times }): Figure[] => [
    { name: `${page}, ${among}, p50`, unit: 'ms', values: [quantile(times, 0.5)] },
    {
      name: `${page}, ${among}, p95`,
      unit: 'ms',
      values: [quantile(times, 0.95)],
      goal: { atMost: limitMs },
    },
  ]);
  return [
    ...pages,
    { name: `${usersAtOnce} users at once, ${among}`, unit: '/s', values: [pagesPerSecond] },
    { name: `PostgreSQL for a request, ${among}`, unit: 'B', values: [bytes] },
  ] satisfies Figure[];
}

/**
 * Measures the lists of requests with few and with very many stored requests. Uses the real service in a
 * separate process over HTTP, and a separate PostgreSQL with default settings.
 */
export const lists: Bench = {
  name: 'lists',
  async run({ short, progress }) {
    const figures: Figure[] = [];
    for (const count of short ? [few] : [few, many]) {
      progress(`${count.toLocaleString('en-GB')} requests in one practice`);
      figures.push(...figuresOf(await measure(count, short ? 10 : 100)));
    }
    return figures;
  },
};
