import { startPlatform } from '@clinical-launch/platform/platform';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { systemClock } from '@clinical-launch/runtime/clock';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';

const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const endings: (() => Promise<void>)[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
  endings.push(() => database.drop());
});
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

describe('an originating id', () => {
  it('stays used when Redis loses its data: a launch is answered 503 until the id is restored, then 409', async () => {
    const redis = await startRedis();
    endings.push(() => redis.stop());
    const platform = await start({ REDIS_URL: redis.url });
    const payload = aServiceRequest();
    expect((await launch(platform, payload)).status).toBe(200);
    const client = await connectRedis(redis.url);
    endings.push(async () => client.disconnect());
    await untilRecorded();

    await client.flushall();
    expect(await answersUntil('409', () => launch(platform, payload))).toEqual(['409']);
    // Some identifiers may not be restored yet. Until then, new launches are answered 503.
    expect(await answersUntil('200', () => launch(platform, aServiceRequest()))).toEqual(['200']);
  });

  it('stays used when a platform with tickets in memory restarts with the same database', async () => {
    const first = await start({});
    const payload = aServiceRequest();
    expect((await launch(first, payload)).status).toBe(200);
    await untilRecorded();
    await first.stop();
    // The second platform must have the same address. An identifier belongs to a client of an issuer, and the
    // name of the issuer contains the address.
    const second = await start({ PORT: new URL(first.publicUrl).port });
    expect((await launch(second, payload)).status).toBe(409);
  });
});

/**
 * Requests launches until the wanted answer arrives. Returns the distinct answers, except `503 2`. An answer
 * consists of the status and, if it was sent, the value of `Retry-After`.
 */
async function answersUntil(wanted: string, launchOnce: () => Promise<Response>): Promise<string[]> {
  const answers = new Set<string>();
  await until(async () => {
    const { status, headers } = await launchOnce();
    answers.add([status, headers.get('retry-after')].join(' ').trim());
    return answers.has(wanted);
  });
  answers.delete('503 2');
  return [...answers];
}

/** Waits until an identifier is stored in the database. */
async function untilRecorded(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const recorded = async () => (await client.query('select name from audit_trail.originating_id')).rows;
    await until(async () => (await recorded()).length > 0);
  } finally {
    await client.end();
  }
}
