import { randomUUID } from 'node:crypto';
import { readAuditKeys, sealKeyFrom } from '@clinical-launch/audit-trail/config';
import { createAuditSearch } from '@clinical-launch/audit-trail/store/audit-search';
import { createAuditStore } from '@clinical-launch/audit-trail/store/audit-store';
import { openSchema } from '@clinical-launch/audit-trail/store/tables';
import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  type CloudEvent,
  createEvent,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import { launchOwner } from '@clinical-launch/identity-provider/domain/desktop-chain';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { aPrefix, createTickets, successorOf } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import type { IssueRequest, TicketKind } from '@clinical-launch/tickets/tickets';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { runOpsHere } from './run-ops.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let storage: Awaited<ReturnType<typeof openPostgresStorage>>;
let schema: Awaited<ReturnType<typeof openSchema>>;
let redis: RedisClient;
beforeAll(async () => {
  database = await createTestDatabase();
  storage = await openPostgresStorage({ url: database.url, applicationName: 'test' });
  schema = await openSchema(storage);
  redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
});
afterAll(async () => {
  redis.disconnect();
  await storage.close();
  await database.drop();
});

/** Each test has its own outbox and its own user. */
let prefix: string;
let user: string;
beforeEach(() => {
  prefix = aPrefix();
  user = `dr.${randomUUID()}`;
});

const tickets = () => createTickets(redis, prefix);
const events = (correlationId: string) =>
  createAuditSearch(schema)({ correlationId }, { limit: 50 }).then(({ entries }) => entries);

/** Publishes the waiting events to the audit trail, as the relay and the consumer do. */
async function relay(): Promise<void> {
  const store = createAuditStore({ database: schema, sealKey: sealKeyFrom(readAuditKeys({})) });
  const outbox = new RedisOutbox({ redis, prefix });
  outbox.reportAll();
  while ((await outbox.drain((written) => store.append(written.map(({ event }) => event)))) > 0);
}

function event<Type extends EventType>(
  type: Type,
  source: ServiceName,
  { correlationId, data }: { correlationId: string; data: EventData<Type> },
): CloudEvent<Type> {
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  return createEvent(type, { source: `/${source}`, correlationId, traceparent, now: new Date() }, data);
}

type Launching = { readonly by?: string; readonly practice?: string; readonly partner?: string };

async function issue(kind: TicketKind, request: Omit<IssueRequest, 'context' | 'ttlSeconds'>) {
  const issued = await tickets().issue(kind, { context: {}, ttlSeconds: 600, ...request });
  if (issued.outcome !== 'issued') throw new Error(issued.outcome);
  const { ticket, correlationId: id } = { ...issued, ...request };
  return { id, isLive: async () => (await tickets().find(kind, ticket)) !== undefined, ticket };
}

/** Issues a launch of a practice system, as the launch API does. */
function launch({ by = user, practice = 'A12345' }: Launching = {}) {
  const correlationId = randomUUID();
  const claim = { name: randomUUID(), holder: 'OrderTest', ttlSeconds: 600 };
  const data = {
    issuer: 'https://issuer.example',
    clientId: 'pms',
    action: 'OrderTest',
    ttlSeconds: 600,
    user: { username: by },
    practice: { code: practice },
    claim: { name: claim.name, ttlSeconds: 600 },
  };
  const issuing = event('launch.url.issued.v1', 'launch-api', { correlationId, data });
  return issue('launch-token', { claim, correlationId, events: [issuing] });
}

/** Issues a desktop launch, as the identity provider does. */
function desktopLaunch({ by = user, practice = 'A12345', partner = 'partner' }: Launching = {}) {
  const correlationId = randomUUID();
  const host = { issuer: 'https://issuer.example', clientId: 'host' };
  const data = {
    realm: 'demo/desktop',
    clientId: partner,
    issuer: host.issuer,
    hostClientId: host.clientId,
    opens: 'host' as const,
    ttlSeconds: 600,
    user: { username: by },
    practice: { code: practice },
  };
  const issuing = event('desktop.launch.issued.v1', 'identity-provider', { correlationId, data });
  const chainRecord = { owner: launchOwner({ name: data.realm }, host), audience: partner };
  const chain = { chainSeconds: 600, chainRecord, correlationId, events: [issuing] };
  return issue('launch-identifier', chain);
}

const run = (...args: string[]) =>
  runOpsHere(['launches', 'end', ...args, '--json'], {
    DATABASE_URL: database.url,
    REDIS_URL: process.env.TEST_REDIS_URL ?? '',
    REDIS_PREFIX: prefix,
  });

type Ended = {
  readonly ended: readonly { readonly launchId: string; readonly partner?: string }[];
  readonly isComplete: boolean;
};

/** Runs a relay until the command has ended, and returns the output of the command. */
async function relayDuring(running: ReturnType<typeof run>): Promise<Ended> {
  let isRunning = true;
  const ran = running.finally(() => (isRunning = false));
  await until(async () => {
    await relay();
    return !isRunning;
  });
  const { code, output, errors } = await ran;
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  await relay();
  return JSON.parse(output) as Ended;
}

/** Ends launches, and returns their ids. */
async function end(...args: string[]): Promise<string[]> {
  const { ended } = await relayDuring(run(...args, '--by', 'A Operator, INC-7'));
  return ended.map(({ launchId }) => launchId).toSorted();
}

const idsOf = (...launches: { id: string }[]) => launches.map(({ id }) => id).toSorted();
const liveOf = (...launches: { isLive: () => Promise<boolean> }[]) =>
  Promise.all(launches.map(({ isLive }) => isLive()));

describe('./clinical-launch launches end', () => {
  it('ends every launch of a user, even if its event is still in the outbox, and reports who ended it', async () => {
    const other = { by: `${user}.neighbour` };
    const stored = [await launch(), await desktopLaunch(), await launch(other), await desktopLaunch(other)];
    const [ofPms, desktop, ...neighbours] = stored;
    if (ofPms === undefined || desktop === undefined) throw new Error('no launch');
    await relay();
    const waiting = await launch();
    const running = run('--user', user.toUpperCase(), '--by', 'A Operator, INC-7');
    await until(async () => !(await ofPms.isLive()) && !(await desktop.isLive()));
    expect(await liveOf(waiting, ...neighbours)).toEqual([true, true, true]);
    const { ended, isComplete } = await relayDuring(running);
    expect(ended).toHaveLength(3);
    expect(ended).toEqual(
      expect.arrayContaining([
        { launchId: ofPms.id },
        { launchId: desktop.id, partner: 'partner' },
        { launchId: waiting.id },
      ]),
    );
    expect(isComplete).toBe(true);
    expect(await liveOf(waiting, ...neighbours)).toEqual([false, true, true]);
    const audited = { by: 'A Operator, INC-7', reason: 'ended_by_operator' };
    expect((await events(desktop.id))[0]).toMatchObject({
      type: 'desktop.chain.revoked.v1',
      source: '/operator',
      user,
      practice: 'A12345',
      event: { data: { ...audited, realm: 'demo/desktop' } },
    });
    expect((await events(waiting.id))[0]).toMatchObject({
      type: 'launch.ended.v1',
      source: '/operator',
      user,
      practice: 'A12345',
      event: { data: audited },
    });
  });

  it('ends nothing twice, and records each run', async () => {
    const ended = [await launch(), await desktopLaunch()];
    await relay();
    expect(await end('--user', user)).toEqual(idsOf(...ended));
    expect(await end('--user', user)).toEqual(idsOf(...ended));
    for (const { id } of ended) expect(await events(id)).toHaveLength(2);
    const { entries } = await createAuditSearch(schema)({ types: ['launches.ended.v1'] }, { limit: 50 });
    const runs = entries.map(({ event: { data } }) => data);
    const ofUser = { by: 'A Operator, INC-7', selection: { user } };
    expect(runs.filter((data) => JSON.stringify(data) === JSON.stringify(ofUser))).toHaveLength(2);
  });

  it('ends only launches that match every selector', async () => {
    const [first, second, third] = [
      await launch({ practice: 'A1' }),
      await desktopLaunch({ practice: 'B1', partner: 'one' }),
      await desktopLaunch({ practice: 'B1', partner: 'two' }),
    ];
    await relay();
    expect(await end('--user', user, '--practice', 'C1')).toEqual([]);
    expect(await end('--user', user, '--client', 'another')).toEqual([]);
    expect(await liveOf(first, second, third)).toEqual([true, true, true]);
    expect(await end('--user', user, '--partner', 'one')).toEqual([second.id]);
    expect(await end('--user', user, '--client', 'pms', '--practice', 'A1')).toEqual([first.id]);
    expect(await liveOf(first, second, third)).toEqual([false, false, true]);
  });

  it('does not count a desktop launch that has reached its end, or whose record names another host', async () => {
    const about = { realm: 'demo/desktop', clientId: 'partner', issuer: 'https://issuer.example' };
    const data = { ...about, hostClientId: 'other', opens: 'host' as const, ttlSeconds: 600 };
    const { id, isLive } = await desktopLaunch({ by: `${user}.neighbour` });
    const forged = [id, randomUUID()].map((correlationId) =>
      event('desktop.launch.issued.v1', 'identity-provider', {
        correlationId,
        data: { ...data, user: { username: user } },
      }),
    );
    for (const each of forged) await new RedisOutbox({ redis, prefix }).append([each]);
    await relay();
    expect(await end('--user', user)).toEqual([]);
    expect(await isLive()).toBe(true);
  });

  it('ends a launch whose refresh token is being used at the same time', async () => {
    const { id, ticket } = await desktopLaunch();
    await relay();
    const successor = { kind: 'refresh-token', ttlSeconds: 600, isDerived: true } as const;
    const first = await tickets().redeem('launch-identifier', ticket, { successor, events: [] });
    const ending = end('--user', user);
    const outcomes: string[] = [];
    for (let token = successorOf(first); outcomes.at(-1) !== 'unknown'; ) {
      const next = await tickets().redeem('refresh-token', token, { successor, events: [] });
      outcomes.push(next.outcome);
      if (next.outcome === 'redeemed') token = successorOf(next);
    }
    expect(await ending).toEqual([id]);
    expect(outcomes.filter((outcome) => outcome !== 'redeemed')).toEqual(['unknown']);
  });

  it('exits with 1 if events are still in the outbox, and ends their launches when it runs again', async () => {
    const waiting = await launch();
    const ended = await run('--user', user, '--by', 'A Operator', '--wait', '0');
    expect(ended).toMatchObject({ code: 1, errors: expect.stringContaining('Run the command again later') });
    expect(JSON.parse(ended.output)).toEqual({ ended: [], isComplete: false });
    expect(await waiting.isLive()).toBe(true);
    expect(await end('--user', user)).toEqual([waiting.id]);
  });

  it.each(["' or '1'='1", '%', '*', 'pms --practice A12345', '$(id)'])(
    'compares selectors exactly, and ends nothing for %s',
    async (text) => {
      const live = [await launch(), await desktopLaunch()];
      await relay();
      for (const name of ['user', 'practice', 'client', 'partner'])
        expect(await end(`--${name}`, text)).toEqual([]);
      expect(await liveOf(...live)).toEqual([true, true]);
    },
  );

  it.each([
    ['a selector', ['--by', 'A Operator'], 'Give --user, --practice, --client or --partner'],
    ['the operator', ['--user', 'x'], '--by is missing'],
    [
      'an operator’s name on one line',
      ['--user', 'x', '--by', 'a\nb'],
      '--by must be one line of at most 100 characters',
    ],
    ['text that the database can store', ['--user', '\u0000', '--by', 'a'], '--user must be one line'],
  ])('exits with 2 unless the arguments contain %s', async (_what, args, error) => {
    expect(await run(...args)).toMatchObject({ code: 2, errors: expect.stringContaining(error) });
  });

  it('names the partners whose servers may accept an access token until it expires', async () => {
    const { id } = await desktopLaunch({ partner: 'analytics' });
    await relay();
    const { output } = await runOpsHere(
      ['launches', 'end', '--partner', 'analytics', '--user', user, '--by', 'A Operator', '--wait', '0'],
      { DATABASE_URL: database.url, REDIS_URL: process.env.TEST_REDIS_URL ?? '', REDIS_PREFIX: prefix },
    );
    expect(output).toContain(`1 launch was ended\n${id}\n`);
    expect(output).toContain('accepts it until it expires. Partners: analytics');
  });
});
