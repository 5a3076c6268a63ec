import { randomUUID } from 'node:crypto';
import { readSharedEventKeys } from '@clinical-launch/process/event-keys';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openRevocationsPart } from '@clinical-launch/process/revocations-part';
import { systemClock } from '@clinical-launch/runtime/clock';
import { createLogger } from '@clinical-launch/runtime/logger';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { until } from '@clinical-launch/testing/until';
import { RedisRevokedTokens } from '@clinical-launch/trust/redis-revoked-tokens';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { audience, startLaunchApi } from './launch-api.ts';

type Stopping = { stop(): Promise<void> };

const running: Stopping[] = [];
const kept = <Part extends Stopping>(part: Part): Part => {
  running.push(part);
  return part;
};
afterAll(async () => {
  for (const part of running.toReversed()) await part.stop();
});

const prefix = `test-${randomUUID()}:`;
const options = {
  clock: systemClock,
  logger: createLogger({ level: 'silent' }),
  eventKeys: readSharedEventKeys({}),
  name: 'test',
};

let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let replicas: Awaited<ReturnType<typeof startReplica>>[];
beforeAll(async () => {
  issuer = kept(await startTokenIssuer({ clock: systemClock, audience }));
  replicas = [await startReplica(), await startReplica()];
});

/**
 * Starts a launch API with its own connection to the shared Redis, and with the parts that the process of the
 * launch API opens.
 */
async function startReplica() {
  const REDIS_URL = process.env.TEST_REDIS_URL;
  if (REDIS_URL === undefined) throw new Error('TEST_REDIS_URL is not set: run the tests by `npm test`');
  const environment = { REDIS_URL, REDIS_PREFIX: prefix };
  const parts = kept(await openRedisParts({ ...options, environment }));
  const revokedTokens = new RedisRevokedTokens(parts.location);
  const { revocations } = kept(await openRevocationsPart({ revokedTokens }, options));
  const trustedIssuers = [{ issuer: issuer.issuer, clients: [{ clientId: 'pms' }] }];
  const api = kept(await startLaunchApi({ trustedIssuers, revocations }));
  // The test clock starts in the past, so the launch API would refuse a token issued now.
  api.clock.advance({ seconds: (Date.now() - api.clock.now()) / 1000 });
  return { ...api, revokedTokens };
}

const statuses = (token: string) =>
  Promise.all(replicas.map(async (replica) => (await replica.post({ token })).status));

describe('a revoked access token', () => {
  it('is refused by every replica after the next poll, while other tokens of the client are accepted', async () => {
    const [tokenId, otherId] = [randomUUID(), randomUUID()];
    const token = await issuer.sign({ claims: { jti: tokenId } });
    const other = await issuer.sign({ claims: { jti: otherId } });
    expect(await statuses(token)).toEqual([200, 200]);
    await replicas[0]?.revokedTokens.revoke(tokenId, { owner: 'pms', forSeconds: 60, events: [] });
    await until(async () => (await statuses(token)).every((status) => status === 401));
    expect(await statuses(other)).toEqual([200, 200]);
  });

  it('is refused at once by a replica that starts after the revocation', async () => {
    const tokenId = randomUUID();
    await replicas[0]?.revokedTokens.revoke(tokenId, { owner: 'pms', forSeconds: 60, events: [] });
    const late = await startReplica();
    expect((await late.post({ token: await issuer.sign({ claims: { jti: tokenId } }) })).status).toBe(401);
  });
});
