import { randomBytes } from 'node:crypto';
import { createSealer } from '@clinical-launch/crypto/sealing';
import type { Storage } from '@clinical-launch/storage/storage';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { sql } from 'kysely';
import { aClient, audience, runIdentityProvider, verifyToken } from './running-identity-provider.ts';

const minute = 60;
const day = 24 * 60 * minute;

let storage: Storage;
beforeAll(async () => {
  storage = await openTestStorage();
});
afterAll(async () => storage.close());

/** Returns the rows of a realm in the key table as text. */
async function keyRows(realm: string): Promise<string[]> {
  const database = await storage.open('looking_in', {});
  const found = await sql<{ row: string }>`
    select to_jsonb(signing_key)::text as row from identity_provider.signing_key where realm = ${realm}
  `.execute(database);
  return found.rows.map(({ row }) => row);
}

/**
 * The times at which a key was published, the times at which it signed, and the last expiry of its tokens, in
 * seconds.
 */
type Sighting = { published: number[]; signed: number[]; lastExpiry: number };

describe.each(['RS256', 'ES256', 'EdDSA'] as const)('an %s key', (signingAlgorithm) => {
  const realm = `turning-${signingAlgorithm.toLowerCase()}`;
  const clock = new TestClock();
  const realms = [{ realm, signingAlgorithm, accessTokenSeconds: 20 * minute, clients: [aClient()] }];
  const seen = new Map<string, Sighting>();
  const live: { token: string; issuedBy: string }[] = [];
  let running: Awaited<ReturnType<typeof runIdentityProvider>>;
  let startedAt: number;

  beforeAll(async () => {
    startedAt = clock.now() / 1000;
    running = await runIdentityProvider({ clock, storage, realms, replicas: 2 });
    // Advances through two rotations, and checks every minute around each rotation.
    for (const period of [1, 2]) {
      const due = startedAt + period * 30 * day;
      clock.advance({ seconds: due - 20 * minute - clock.now() / 1000 });
      while (clock.now() / 1000 < due + 30 * minute) {
        await look();
        clock.advance({ seconds: minute });
      }
    }
  });
  afterAll(async () => running.stop());

  const sighting = (kid: unknown) => {
    const known = seen.get(String(kid)) ?? { published: [], signed: [], lastExpiry: 0 };
    seen.set(String(kid), known);
    return known;
  };

  /**
   * Fetches a token and the key set from every replica, and verifies every valid token with every key set.
   */
  async function look() {
    const now = clock.now() / 1000;
    const sets = [];
    for (const replica of [running.idp, ...running.others]) {
      const token = String((await replica.token(realm)).access_token);
      const signer = sighting(decodeProtectedHeader(token).kid);
      signer.signed.push(now);
      signer.lastExpiry = Math.max(signer.lastExpiry, Number(decodeJwt(token).exp));
      live.push({ token, issuedBy: replica.base });
      const keySet = await replica.keySet(realm);
      sets.push(keySet);
      for (const { kid } of keySet.keys) sighting(kid).published.push(now);
    }
    const valid = live.filter(({ token }) => Number(decodeJwt(token).exp) > now);
    live.splice(0, live.length, ...valid);
    // Verifies each distinct key set once.
    const differing = new Map(sets.map((keySet) => [JSON.stringify(keySet), keySet]));
    for (const keySet of differing.values()) {
      for (const { token } of valid)
        await verifyToken(token, { keySet, issuer: running.issuer(realm), clock });
    }
  }

  const inOrder = () =>
    [...seen.values()].toSorted((one, other) => (one.signed[0] ?? 0) - (other.signed[0] ?? 0));

  it('is published by every replica at least 15 minutes before it signs', () => {
    const [first, ...later] = inOrder();
    expect(first?.signed[0]).toBe(startedAt + 30 * day - 20 * minute);
    expect(later).toHaveLength(2);
    for (const { published, signed } of later) {
      expect((signed[0] ?? 0) - (published[0] ?? 0)).toBeGreaterThanOrEqual(15 * minute);
      // Both replicas published the key in each of these minutes.
      const before = published.filter(
        (time) => time >= (signed[0] ?? 0) - 15 * minute && time < (signed[0] ?? 0),
      );
      expect(before).toHaveLength(2 * 15);
    }
  });

  it('signs from the end of the previous key’s period, and is then the only signing key', () => {
    const keys = inOrder();
    for (const [index, { signed }] of keys.entries()) {
      expect(signed.at(-1)).toBeLessThan(keys[index + 1]?.signed[0] ?? Number.POSITIVE_INFINITY);
    }
    expect(keys.slice(1).map(({ signed }) => signed[0])).toEqual([
      startedAt + 30 * day,
      startedAt + 60 * day,
    ]);
  });

  it('is published until its last token has expired', () => {
    const gone = inOrder().slice(0, 2);
    for (const { published, lastExpiry } of gone) {
      expect(published.at(-1)).toBeGreaterThanOrEqual(lastExpiry);
      expect(published.at(-1)).toBeLessThanOrEqual(lastExpiry + 2 * minute);
    }
  });

  it('is deleted from the database when it is no longer published', async () => {
    expect(await keyRows(realm)).toHaveLength(1);
  });

  it('verifies tokens for clients that fetch the key set', async () => {
    const last = live.at(-1);
    const keys = createRemoteJWKSet(new URL(`${running.idp.base}/${realm}/discovery/v2.0/keys`));
    const { payload } = await jwtVerify(String(last?.token), keys, {
      audience,
      currentDate: new Date(clock.now()),
    });
    expect(payload.iss).toBe(running.issuer(realm));
  });
});

describe('signing keys', () => {
  const start = (
    options: Partial<Parameters<typeof runIdentityProvider>[0]> & { realm: string; clock: TestClock },
  ) => runIdentityProvider({ storage, realms: [{ realm: options.realm, clients: [aClient()] }], ...options });

  it('are shared by replicas that start at the same time', async () => {
    const clock = new TestClock();
    const running = await start({ realm: 'together', clock, replicas: 5 });
    const sets = await Promise.all(
      [running.idp, ...running.others].map(async (replica) => (await replica.keySet('together')).keys),
    );
    expect(sets[0]).toHaveLength(1);
    for (const keys of sets) expect(keys).toEqual(sets[0]);
    expect(await keyRows('together')).toHaveLength(1);
    const { access_token } = await running.idp.token('together');
    const keySet = { keys: sets[4] ?? [] };
    const { claims } = await verifyToken(access_token, { keySet, issuer: running.issuer('together'), clock });
    expect(claims.sub).toBe('pms-north');
    await running.stop();
  });

  it('stay the same after a restart', async () => {
    const clock = new TestClock();
    const first = await start({ realm: 'restarted', clock });
    const before = await first.idp.keySet('restarted');
    await first.stop();
    const second = await start({ realm: 'restarted', clock });
    expect(await second.idp.keySet('restarted')).toEqual(before);
    await second.stop();
  });

  it('continue to sign after a long downtime until their successor has been published for 15 minutes', async () => {
    const clock = new TestClock();
    const first = await start({ realm: 'rested', clock });
    const [old] = (await first.idp.keySet('rested')).keys;
    await first.stop();
    clock.advance({ seconds: 100 * day });
    const second = await start({ realm: 'rested', clock });
    const signer = async () =>
      decodeProtectedHeader(String((await second.idp.token('rested')).access_token)).kid;
    expect((await second.idp.keySet('rested')).keys).toHaveLength(2);
    expect(await signer()).toBe(old?.kid);
    clock.advance({ seconds: 15 * minute });
    expect(await signer()).toBe(old?.kid);
    clock.advance({ seconds: minute });
    expect(await signer()).not.toBe(old?.kid);
    await second.stop();
  });

  it('of the old and the new algorithm are published after a change, and the new key signs 16 minutes later', async () => {
    const clock = new TestClock();
    const realms = (signingAlgorithm: string) => [
      { realm: 'changed', signingAlgorithm, clients: [aClient()] },
    ];
    const before = await start({ realm: 'changed', clock, realms: realms('RS256') });
    await before.stop();
    const after = await start({ realm: 'changed', clock, realms: realms('ES256') });
    const algorithm = async () =>
      decodeProtectedHeader(String((await after.idp.token('changed')).access_token)).alg;
    expect((await after.idp.keySet('changed')).keys.map(({ alg }) => alg)).toEqual(['RS256', 'ES256']);
    expect(await algorithm()).toBe('RS256');
    clock.advance({ seconds: 16 * minute });
    expect(await algorithm()).toBe('ES256');
    await after.stop();
  });

  it('are published longer if the realm’s token lifetime was increased', async () => {
    const clock = new TestClock();
    const realms = (accessTokenSeconds: number) => [
      { realm: 'raised', accessTokenSeconds, clients: [aClient()] },
    ];
    await (await start({ realm: 'raised', clock, realms: realms(60) })).stop();
    const running = await start({ realm: 'raised', clock, realms: realms(7200) });
    const [old] = (await running.idp.keySet('raised')).keys;
    const published = async () => (await running.idp.keySet('raised')).keys.map(({ kid }) => kid);
    clock.advance({ seconds: 30 * day - 16 * minute });
    expect(await published()).toHaveLength(2);
    clock.advance({ seconds: 16 * minute + 7200 });
    expect(await published()).toContain(old?.kid);
    clock.advance({ seconds: 2 * minute });
    expect(await published()).not.toContain(old?.kid);
    await running.stop();
  });

  it('are stored with an encrypted private part', async () => {
    const running = await start({ realm: 'sealed', clock: new TestClock() });
    const [row = ''] = await keyRows('sealed');
    expect(row).toContain('"sealed_private_jwk"');
    expect(row).not.toMatch(/"(d|p|q|dp|dq|qi)"/);
    expect(running.lines.join('\n')).not.toMatch(/"(d|p|q|dp|dq|qi)"/);
    await running.stop();
  });

  it('prevent the start if their sealing key is missing, and the error contains their kid and realm', async () => {
    const clock = new TestClock();
    await (await start({ realm: 'locked', clock })).stop();
    const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
    await expect(start({ realm: 'locked', clock, sealer })).rejects.toThrow(
      /^None of the sealing keys opens the signing key [\w-]{43} of the realm locked$/,
    );
  });

  it('continue to sign for 15 minutes while the database is down', async () => {
    const clock = new TestClock();
    const doomed = await openTestStorage({ connectTimeoutMs: 500 });
    const running = await start({ realm: 'alone', clock, storage: doomed });
    await doomed.close();
    clock.advance({ seconds: 15 * minute - 1 });
    expect((await running.idp.token('alone')).status).toBe(200);
    clock.advance({ seconds: 6 });
    const refused = await running.idp.token('alone');
    expect(refused).toMatchObject({ status: 503, error: 'temporarily_unavailable' });
    expect((await running.idp.get('/alone/discovery/v2.0/keys')).status).toBe(503);
    await running.stop();
  });
});

describe('the metric of expiring credentials', () => {
  it('has the last expiry of a client whose secrets all expire, and the day on which a key is due', async () => {
    const measured = startMeasuring();
    const clock = new TestClock();
    const sha256 = 'a'.repeat(64);
    const [first, last] = ['2026-05-01T00:00:00Z', '2026-06-01T00:00:00Z'];
    const clients = [
      aClient({ clientId: 'rolled', secrets: [last, first].map((expires) => ({ sha256, expires })) }),
      aClient({ clientId: 'lasting', secrets: [{ sha256, expires: first }, { sha256 }] }),
    ];
    const running = await runIdentityProvider({ clock, storage, realms: [{ realm: 'expiring', clients }] });
    expect(await measured.read('clinical_launch.credential.expiry')).toEqual({
      'client_secret expiring rolled': Date.parse(last) / 1000,
      'signing_key expiring': clock.now() / 1000 + 30 * day,
    });
    await running.stop();
    measured.stop();
  });
});
