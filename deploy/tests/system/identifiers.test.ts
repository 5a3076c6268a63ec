import { startPlatform } from '@clinical-launch/platform';
import { systemClock } from '@clinical-launch/service';
import {
  aServiceRequest,
  createRecordedLogger,
  createTestDatabase,
  startRedis,
  until,
} from '@clinical-launch/testing';
import { connectRedis } from '@clinical-launch/tickets/redis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';

const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function start(environment: Readonly<Record<string, string>>) {
  const { logger } = createRecordedLogger('error');
  const platform = await startPlatform({
    environment: { PORT: '0', DATABASE_URL: database.url, ...environment },
    clock: systemClock,
    logger,
  });
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= platform.stop());
  endings.push(stop);
  return { ...platform, stop, token: await tokenAt(platform.publicUrl) };
}

async function tokenAt(url: string): Promise<string> {
  const response = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'pms-demo',
      client_secret: 'pms-demo-secret',
      scope: 'api://clinical-launch/.default',
    }),
  });
  const { access_token: token }: { access_token: string } = JSON.parse(await response.text());
  return token;
}

const launch = ({ publicUrl, token }: { publicUrl: string; token: string }, payload: object) =>
  fetch(`${publicUrl}/AccessApi/RequestLaunchUrl`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Code-Challenge': codeChallenge,
    },
    body: JSON.stringify(payload),
  });

describe("a caller's identifier", () => {
  it('stays used when Redis loses its data: launches are refused until it is known again, then answered 409', async () => {
    const redis = await startRedis();
    endings.push(() => redis.stop());
    const platform = await start({ REDIS_URL: redis.url });
    const payload = aServiceRequest();
    expect((await launch(platform, payload)).status).toBe(200);
    const client = await connectRedis(redis.url);
    endings.push(async () => client.disconnect());
    await untilRecorded(1);

    await client.flushall();
    const answers = new Set<string>();
    await until(async () => {
      const { status, headers } = await launch(platform, payload);
      answers.add([status, headers.get('retry-after')].join(' ').trim());
      return answers.has('409');
    });
    // It may be known again before the first request.
    answers.delete('503 2');
    expect([...answers]).toEqual(['409']);
    expect((await launch(platform, aServiceRequest())).status).toBe(200);
  });

  it('stays used when a platform with tickets in memory is started again on the same database', async () => {
    const first = await start({});
    const payload = aServiceRequest();
    expect((await launch(first, payload)).status).toBe(200);
    await untilRecorded(3);
    await first.stop();
    // At the same address: an identifier belongs to a client of an issuer, whose name contains the address.
    const second = await start({ PORT: new URL(first.publicUrl).port });
    expect((await launch(second, payload)).status).toBe(409);
  });
});

/** Waits until the database has recorded `count` identifiers. */
async function untilRecorded(count: number): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const recorded = async () => (await client.query('select name from audit_trail.originating_id')).rows;
    await until(async () => (await recorded()).length >= count);
  } finally {
    await client.end();
  }
}
