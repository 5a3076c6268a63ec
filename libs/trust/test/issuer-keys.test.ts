import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestKey, startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK } from 'jose';
import { createFollowingVerifier } from '../src/access-tokens.ts';
import { issuerPolicies } from '../src/issuer-policies.ts';

const audience = 'api://clinical-launch';
let clock: TestClock;
let otherKeys: TestKey[];
let oddKeys: unknown[];
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let clients: string[];
let hangs: boolean;
let logged: readonly string[];
let changeRegistry: () => void;
let verifyWith: (key?: TestKey, header?: Record<string, unknown>) => Promise<unknown>;
beforeEach(() => start());
afterEach(() => issuer.stop());

/** Starts an issuer, and a verifier that trusts it. */
async function start(options: { path?: string; prefix?: string } = {}) {
  clock = new TestClock();
  otherKeys = [];
  oddKeys = [];
  issuer = await startTokenIssuer({ clock, audience, otherKeys, oddKeys, ...options });
  const registryOf = () => ({
    realms: [],
    trustedIssuers: [
      {
        issuer: issuer.issuer,
        acceptsMissingKeyId: true,
        clients: clients.map((clientId) => ({ clientId })),
      },
    ],
  });
  clients = ['pms'];
  hangs = false;
  const fetchOutbound = createOutboundFetch({ allowedNetworks: loopbackNetworks });
  let registry = registryOf();
  changeRegistry = () => {
    clients.push('another');
    registry = registryOf();
  };
  const recorded = createRecordedLogger();
  const addresses = { publicUrl: 'http://localhost', identityProviderUrl: 'http://localhost/idp' };
  const verifier = createFollowingVerifier(
    { current: () => registry },
    {
      policiesOf: (current) => issuerPolicies(current, { ...addresses, audience }),
      clock,
      logger: recorded.logger,
      fetchOutbound: (...request) => (hangs ? new Promise(() => undefined) : fetchOutbound(...request)),
      revocations: undefined,
    },
  );
  logged = recorded.lines;
  let tokens = 0;
  verifyWith = async (key = issuer.key, header = {}) => {
    tokens += 1;
    return verifier.verify(`Bearer ${await issuer.sign({ claims: { jti: `${tokens}` }, key, header })}`);
  };
}

const accepted = { clientId: 'pms' };
const away = (retryAfter: string) => ({ status: 503, headers: { 'Retry-After': retryAfter } });
const refused = (reason: string) => ({ status: 401, message: `Not authorised: ${reason}` });
const unknownKey = 'the token is signed with a key that its issuer does not publish';
const withoutId = { kid: undefined };

describe("an issuer's keys", () => {
  it('are fetched once in ten minutes of the platform’s clock', async () => {
    for (const seconds of [0, 599, 1, 599]) {
      clock.advance({ seconds });
      await verifyWith();
    }
    expect(issuer.keyRequests()).toBe(2);
  });

  it('include a new key five seconds after the last fetch, with or without its key ID', async () => {
    await verifyWith();
    for (const header of [{}, withoutId]) {
      const added = await createTestKey(`added ${otherKeys.length}`);
      otherKeys.push(added);
      await expect(verifyWith(added, header)).rejects.toMatchObject(refused(unknownKey));
      clock.advance({ seconds: 5 });
      expect(await verifyWith(added, header)).toMatchObject(accepted);
    }
    expect(issuer.keyRequests()).toBe(3);
  });

  it('are fetched at most once in five seconds for tokens of unknown keys', async () => {
    await verifyWith();
    const stranger = await createTestKey('stranger');
    for (const seconds of [4, 1, 4]) {
      clock.advance({ seconds });
      const attempts = [stranger, stranger].map((key) => verifyWith(key));
      await expect(Promise.any(attempts)).rejects.toMatchObject({
        errors: [refused(unknownKey), refused(unknownKey)],
      });
    }
    expect(issuer.keyRequests()).toBe(2);
  });

  it('are used until an hour after the last fetch while they cannot be fetched, with one try in a minute', async () => {
    await verifyWith();
    issuer.answer(false);
    clock.advance({ seconds: 540 });
    for (let minute = 10; minute < 60; minute += 1) {
      for (const seconds of [59, 1, 0]) {
        clock.advance({ seconds });
        expect(await verifyWith()).toMatchObject(accepted);
      }
      await until(() => logged.length === minute - 9);
    }
    clock.advance({ seconds: 60 });
    await expect(verifyWith()).rejects.toMatchObject(away('2'));
    expect(issuer.requests()).toBe(2 + 51);
    expect(logged[0]).toContain('The answer has the status 500');
    issuer.answer(true);
    clock.advance({ seconds: 2 });
    expect(await verifyWith()).toMatchObject(accepted);
  });

  it('are counted when they are fetched and when they cannot be fetched, with the time of the last success', async () => {
    const measured = startMeasuring();
    await issuer.stop();
    await start();
    await verifyWith();
    const fetchedAt = clock.now() / 1000;
    issuer.answer(false);
    clock.advance({ seconds: 600 });
    await verifyWith();
    await until(() => logged.length === 1);
    const { issuer: owner } = issuer;
    expect(await measured.read('clinical_launch.issuer_keys.fetches')).toEqual({
      [`${owner} ok`]: 1,
      [`${owner} failed`]: 1,
    });
    expect(await measured.read('clinical_launch.issuer_keys.fetched_time')).toEqual({ [owner]: fetchedAt });
    measured.stop();
  });

  it('are used without waiting for the next try if the last try failed', async () => {
    await verifyWith();
    issuer.answer(false);
    clock.advance({ seconds: 600 });
    await verifyWith();
    await until(() => logged.length === 1);
    hangs = true;
    clock.advance({ seconds: 60 });
    expect(await verifyWith()).toMatchObject(accepted);
  });

  it('that are withdrawn end with the first token that is received ten minutes after the last fetch', async () => {
    const withdrawn = await createTestKey('withdrawn');
    otherKeys.push(withdrawn);
    await verifyWith(withdrawn);
    otherKeys.pop();
    clock.advance({ seconds: 599 });
    expect(await verifyWith(withdrawn)).toMatchObject(accepted);
    clock.advance({ seconds: 1 });
    await expect(verifyWith(withdrawn)).rejects.toMatchObject(refused(unknownKey));
  });

  it('that are withdrawn while the issuer is away end after an hour', async () => {
    const withdrawn = await createTestKey('withdrawn');
    otherKeys.push(withdrawn);
    await verifyWith(withdrawn);
    issuer.answer(false);
    otherKeys.pop();
    clock.advance({ seconds: 3599 });
    expect(await verifyWith(withdrawn)).toMatchObject(accepted);
    clock.advance({ seconds: 2 });
    await expect(verifyWith(withdrawn)).rejects.toMatchObject(away('2'));
    issuer.answer(true);
    clock.advance({ seconds: 2 });
    await expect(verifyWith(withdrawn)).rejects.toMatchObject(refused(unknownKey));
  });

  it('answer 503 for a token of an unknown key while they cannot be fetched', async () => {
    await verifyWith();
    const added = await createTestKey('added');
    otherKeys.push(added);
    issuer.answer(false);
    clock.advance({ seconds: 5 });
    const before = issuer.requests();
    for (const _attempt of [1, 2]) await expect(verifyWith(added)).rejects.toMatchObject(away('5'));
    expect(issuer.requests()).toBe(before + 1);
    expect(await verifyWith()).toMatchObject(accepted);
    issuer.answer(true);
    clock.advance({ seconds: 5 });
    expect(await verifyWith(added)).toMatchObject(accepted);
  });

  it('are tried once in two seconds for all requests while none is known', async () => {
    issuer.answer(false);
    for (const seconds of [0, 1, 1]) {
      clock.advance({ seconds });
      const attempts = [1, 2, 3].map(() => verifyWith());
      const answer = expect.objectContaining(away('2'));
      await expect(Promise.any(attempts)).rejects.toMatchObject({ errors: [answer, answer, answer] });
    }
    expect(issuer.requests()).toBe(2);
  });

  it('remain known when the registry changes', async () => {
    await verifyWith();
    issuer.answer(false);
    changeRegistry();
    expect(await verifyWith()).toMatchObject(accepted);
  });

  it.each(['/tenant/', '/'])('are found if the issuer ends with a slash (%s)', async (path) => {
    await issuer.stop();
    await start({ path });
    expect(await verifyWith()).toMatchObject(accepted);
  });

  it('are found if the answers begin with a byte order mark', async () => {
    await issuer.stop();
    await start({ prefix: '\uFEFF' });
    expect(await verifyWith()).toMatchObject(accepted);
  });
});

describe('several keys that fit a token', () => {
  it('are all tried if the token has no key ID, or if keys have the same key ID', async () => {
    const twin = await createTestKey(issuer.key.kid);
    otherKeys.push(twin, await createTestKey('other'), issuer.key);
    for (const key of otherKeys)
      for (const header of [{}, withoutId]) expect(await verifyWith(key, header)).toMatchObject(accepted);
    const stranger = await createTestKey(issuer.key.kid);
    await expect(verifyWith(stranger, withoutId)).rejects.toMatchObject(refused(unknownKey));
    await expect(verifyWith(stranger)).rejects.toMatchObject(
      refused('the signature of the token is invalid'),
    );
  });

  it('are eight at most', async () => {
    for (let count = 0; count < 8; count += 1) otherKeys.push(await createTestKey(`${count}`));
    const [eighth, ninth] = otherKeys.slice(-2);
    expect(await verifyWith(eighth, withoutId)).toMatchObject(accepted);
    await expect(verifyWith(ninth, withoutId)).rejects.toMatchObject(refused(unknownKey));
    expect(await verifyWith(ninth)).toMatchObject(accepted);
  });
});

describe('an odd entry among the keys', () => {
  const unfit = 'the published key of the token is not a valid public key';

  it.each([
    null,
    'a text',
    ['a list'],
    {},
    { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' },
    { kty: 'RSA', kid: 'test-key' },
    { kty: 'oct', kid: 'test-key', k: 'AAAA' },
    { kty: 'EC', crv: 'P-256', kid: 'test-key', x: 'AA', y: 'AA' },
  ])('does not stop the other keys: %j', async (entry) => {
    oddKeys.push(entry);
    expect(await verifyWith()).toMatchObject(accepted);
  });

  it('may state the operation of its private key too', async () => {
    const key = await createTestKey('odd');
    oddKeys.push({ ...key.publicJwk, key_ops: ['sign', 'verify'], ext: 'true' });
    expect(await verifyWith(key)).toMatchObject(accepted);
  });

  it.each<[string, string, (key: TestKey) => object | Promise<object>]>([
    ['has its private part', unfit, async ({ privateKey }) => exportJWK(privateKey)],
    ['is no point of its curve', unfit, () => ({ y: 'AA' })],
    ['is only for other operations', unknownKey, () => ({ key_ops: ['deriveKey'] })],
  ])('is refused with its reason if it %s', async (_fault, reason, change) => {
    const key = await createTestKey('odd');
    oddKeys.push({ ...key.publicJwk, ...(await change(key)) });
    await expect(verifyWith(key)).rejects.toMatchObject(refused(reason));
    expect(await verifyWith()).toMatchObject(accepted);
  });
});
