import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  desktopRealms,
  type RunningDesktop,
  realm,
  runDesktop,
  type Tokens,
  tokensOf,
} from './running-desktop.ts';
import { audience, record, registryOf } from './running-identity-provider.ts';

const minute = 60;
const day = 24 * 60 * minute;

/**
 * The age of the oldest key set that a client may use. HTTP caches store a key set for five minutes, and
 * clients for another ten minutes.
 */
const keptForSeconds = 15 * minute;

/**
 * Requests several tokens at once, as partners do, and verifies each with the newest and the oldest key set.
 */
function load(running: RunningDesktop, clock: TestClock) {
  const sets: { readAt: number; keys: ReturnType<typeof createLocalJWKSet> }[] = [];
  let refreshToken: string | undefined;
  const verify = async ({ idToken, accessToken }: Tokens, keys: ReturnType<typeof createLocalJWKSet>) => {
    const options = { issuer: running.issuer(realm), currentDate: new Date(clock.now()) };
    await jwtVerify(idToken, keys, { ...options, audience: 'partner' });
    await jwtVerify(accessToken, keys, { ...options, audience, typ: 'at+jwt' });
  };
  return async (): Promise<string[]> => {
    sets.push({ readAt: clock.now(), keys: createLocalJWKSet(await running.idp.keySet(realm)) });
    while ((sets[0]?.readAt ?? 0) < clock.now() - keptForSeconds * 1000) sets.shift();
    refreshToken ??= (await running.tokensFor()).refreshToken;
    const codes = await Promise.all(Array.from({ length: 3 }, () => running.codeFor()));
    const asked = [...codes.map((fields) => running.postToken(fields)), running.refresh(refreshToken)];
    const answers = await Promise.all(asked.map(async (response) => tokensOf(await (await response).json())));
    refreshToken = answers.at(-1)?.refreshToken;
    for (const { keys } of [sets[0], sets.at(-1)].filter((set) => set !== undefined)) {
      for (const answer of answers) await verify(answer, keys);
    }
    return answers.map(({ idToken }) => String(decodeProtectedHeader(idToken).kid));
  };
}

describe('a rotation of keys under load', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])(
    'with %s keeps every token valid with the current key set and with the key set of 15 minutes ago',
    async (signingAlgorithm) => {
      const clock = new TestClock();
      const storage = await openTestStorage();
      const realms = desktopRealms({ signingAlgorithm });
      const running = await runDesktop({ clock, storage, realms });
      const step = load(running, clock);
      const signers = new Set<string>();
      clock.advance({ seconds: 30 * day - 20 * minute });
      for (let minutes = 0; minutes < 25; minutes += 1) {
        for (const kid of await step()) signers.add(kid);
        clock.advance({ seconds: minute });
      }
      expect(signers.size).toBe(2);
      await running.stop();
      await storage.close();
    },
  );

  it('changes a running realm from RS256 to ES256, and its discovery document lists both algorithms', async () => {
    const clock = new TestClock();
    const storage = await openTestStorage();
    let signingAlgorithm = 'RS256';
    const registryAt = (publicUrl: string) => {
      const made = new Map(
        ['RS256', 'ES256'].map((algorithm) => [
          algorithm,
          registryOf({ realms: desktopRealms({ signingAlgorithm: algorithm }) }, publicUrl),
        ]),
      );
      return {
        current() {
          const registry = made.get(signingAlgorithm);
          if (registry === undefined) throw new TypeError('no such registry');
          return registry;
        },
      };
    };
    const running = await runDesktop({ clock, storage, registryAt });
    const algorithms = async () => {
      const { idToken } = await running.tokensFor();
      const reported = await running.idp.get(`/${realm}/v2.0/.well-known/openid-configuration`);
      const { id_token_signing_alg_values_supported: supported } = record(await reported.json());
      return { signs: decodeProtectedHeader(idToken).alg, supported };
    };
    const step = load(running, clock);
    expect(await algorithms()).toEqual({ signs: 'RS256', supported: ['RS256'] });
    signingAlgorithm = 'ES256';
    const signers = new Set<string>();
    for (let minutes = 0; minutes < 20; minutes += 1) {
      for (const kid of await step()) signers.add(kid);
      const { signs, supported } = await algorithms();
      expect(supported).toContain(signs);
      clock.advance({ seconds: minute });
    }
    expect(signers.size).toBe(2);
    expect(await algorithms()).toEqual({ signs: 'ES256', supported: ['RS256', 'ES256'] });
    await running.stop();
    await storage.close();
  });
});
