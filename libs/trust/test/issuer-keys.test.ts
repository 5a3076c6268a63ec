import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestKey, startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAccessTokenVerifier } from '../src/access-tokens.ts';
import { issuerPolicies } from '../src/issuer-policies.ts';

const audience = 'api://clinical-launch';
let clock: TestClock;
let otherKeys: TestKey[];
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let verifyWith: (key?: TestKey) => Promise<unknown>;
beforeEach(async () => {
  clock = new TestClock();
  otherKeys = [];
  issuer = await startTokenIssuer({ clock, audience, otherKeys });
  const trustedIssuers = [{ issuer: issuer.issuer, clients: [{ clientId: 'pms' }] }];
  const addresses = { publicUrl: 'http://localhost', identityProviderUrl: 'http://localhost/idp' };
  const verifier = createAccessTokenVerifier({
    issuers: issuerPolicies({ realms: [], trustedIssuers }, { ...addresses, audience }),
    clock,
    fetchOutbound: createOutboundFetch({ allowedNetworks: loopbackNetworks }),
  });
  let tokens = 0;
  verifyWith = async (key = issuer.key) => {
    tokens += 1;
    return verifier.verify(`Bearer ${await issuer.sign({ claims: { jti: `${tokens}` }, key })}`);
  };
});
afterEach(() => issuer.stop());

describe("an issuer's keys", () => {
  it('are fetched once in ten minutes of the platform’s clock', async () => {
    for (const seconds of [0, 599, 1, 599]) {
      clock.advance({ seconds });
      await verifyWith();
    }
    expect(issuer.keyRequests()).toBe(2);
  });

  it('include a new key as soon as the cached keys are ten minutes old', async () => {
    await verifyWith();
    const added = await createTestKey('added');
    otherKeys.push(added);
    await expect(verifyWith(added)).rejects.toMatchObject({ status: 401 });
    clock.advance({ seconds: 600 });
    expect(await verifyWith(added)).toMatchObject({ clientId: 'pms' });
  });

  it('are not used after ten minutes if they cannot be fetched again', async () => {
    await verifyWith();
    issuer.answer(false);
    clock.advance({ seconds: 600 });
    for (const _attempt of [1, 2]) await expect(verifyWith()).rejects.toMatchObject({ status: 503 });
    issuer.answer(true);
    expect(await verifyWith()).toMatchObject({ clientId: 'pms' });
  });
});
