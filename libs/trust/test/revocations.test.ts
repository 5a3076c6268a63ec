import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { RedisUnavailable } from '@clinical-launch/redis/redis-scripts';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { until } from '@clinical-launch/testing/until';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InMemoryRevokedTokens } from '../src/in-memory-revoked-tokens.ts';
import { type FollowedRevocations, followRevocations } from '../src/revocations.ts';
import type { RevokedTokens } from '../src/revoked-tokens.ts';

const audience = 'api://clinical-launch';

let clock: TestClock;
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let store: RevokedTokens;
let isAway: boolean;
let revocations: FollowedRevocations;
/** Advances the time, and resolves once the list has been read at the new time. */
let passTime: (seconds: number) => Promise<void>;
let lines: string[];

beforeEach(async () => {
  clock = new TestClock();
  issuer = await startTokenIssuer({ clock, audience });
  isAway = false;
  store = new InMemoryRevokedTokens({ clock, outbox: { append: async () => undefined } });
  const recorded = createRecordedLogger();
  ({ lines } = recorded);
  let reads = 0;
  revocations = await followRevocations(
    {
      readAfter: async (position) => {
        reads += 1;
        if (isAway) throw new RedisUnavailable('Redis does not answer');
        return await store.readAfter(position);
      },
    },
    { clock, logger: recorded.logger, everyMs: 1 },
  );
  passTime = async (seconds) => {
    clock.advance({ seconds });
    const readsBefore = reads;
    // Waits for two further reads, because only the second read certainly starts after the time has passed.
    await until(() => reads >= readsBefore + 2);
  };
});
afterEach(async () => {
  await revocations.stop();
  await issuer.stop();
});

/** Returns a function that verifies a token of the client `pms` with a verifier that trusts the issuer. */
async function verifying(tokenId: string) {
  const trustedIssuers = [{ issuer: issuer.issuer, clients: [{ clientId: 'pms' }] }];
  const addresses = { publicUrl: 'http://localhost', identityProviderUrl: 'http://localhost/idp' };
  const verifier = createAccessTokenVerifier({
    issuers: issuerPolicies({ realms: [], trustedIssuers }, { ...addresses, audience }),
    clock,
    fetchOutbound: createOutboundFetch({ allowedNetworks: loopbackNetworks }),
    revocations,
  });
  const authorization = `Bearer ${await issuer.sign({ claims: { client_id: 'pms', jti: tokenId } })}`;
  return () => verifier.verify(authorization);
}

const revoke = (tokenId: string, forSeconds = 3600) =>
  store.revoke(tokenId, { owner: 'pms', forSeconds, events: [] });

it('a revoked token is refused after the next read of the list of revoked tokens, even if it was verified before', async () => {
  const [revoked, other] = [await verifying('revoked'), await verifying('other')];
  expect(await revoked()).toMatchObject({ clientId: 'pms' });
  await revoke('revoked');
  await passTime(2);
  await expect(revoked()).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  expect(await other()).toMatchObject({ clientId: 'pms' });
});

it('a token revoked before the process started is refused immediately', async () => {
  await revoke('revoked');
  const following = await followRevocations(store, { clock, logger: createRecordedLogger().logger });
  expect(following.has('revoked')).toBe(true);
  await following.stop();
});

it('the list of revoked tokens is read every two seconds', async () => {
  const readsAt: number[] = [];
  const readAfter = async (position?: string) => {
    readsAt.push(performance.now());
    return await store.readAfter(position);
  };
  const following = await followRevocations({ readAfter }, { clock, logger: createRecordedLogger().logger });
  await until(() => readsAt.length === 2);
  await following.stop();
  const [first = 0, second = 0] = readsAt;
  expect(second - first).toBeGreaterThan(1990);
});

it('a revocation is forgotten when it ends', async () => {
  await revoke('revoked', 60);
  await passTime(2);
  expect(revocations.has('revoked')).toBe(true);
  await passTime(59);
  expect(revocations.has('revoked')).toBe(false);
});

it('a revocation stays in effect after the store has lost it', async () => {
  await revoke('revoked');
  await passTime(2);
  store = new InMemoryRevokedTokens({ clock, outbox: { append: async () => undefined } });
  await passTime(2);
  expect(revocations.has('revoked')).toBe(true);
});

it('tokens are accepted for 30 seconds after a read of revoked tokens, then cause 503 until the next read', async () => {
  const verify = await verifying('one');
  isAway = true;
  await passTime(30);
  expect(await verify()).toMatchObject({ clientId: 'pms' });
  expect(revocations.isCurrent()).toBe(true);
  await passTime(1);
  await expect(verify()).rejects.toMatchObject({ status: 503, code: 'temporarily_unavailable' });
  expect(revocations.isCurrent()).toBe(false);
  isAway = false;
  await passTime(1);
  expect(await verify()).toMatchObject({ clientId: 'pms' });
  // The log contains one line for each change of state, not for each read.
  expect(lines.filter((line) => line.includes('cannot be read'))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('can be read again'))).toHaveLength(1);
});

it('the age of a read counts from its start, because the read may miss later revocations', async () => {
  const slow = await followRevocations(
    {
      readAfter: async (position) => {
        clock.advance({ seconds: 20 });
        return await store.readAfter(position);
      },
    },
    { clock, logger: createRecordedLogger().logger },
  );
  clock.advance({ seconds: 10 });
  expect(slow.isCurrent()).toBe(true);
  clock.advance({ seconds: 1 });
  expect(slow.isCurrent()).toBe(false);
  await slow.stop();
});

it('a process that has never read the list of revoked tokens accepts no token', async () => {
  const never = await followRevocations(
    { readAfter: () => Promise.reject(new RedisUnavailable('Redis does not answer')) },
    { clock, logger: createRecordedLogger().logger },
  );
  expect(() => never.has('one')).toThrow(expect.objectContaining({ status: 503 }));
  await never.stop();
});
