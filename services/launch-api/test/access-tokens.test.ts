import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TrustedIssuer } from '@clinical-launch/contracts/registry';
import { listen } from '@clinical-launch/http/server';
import { createTestKey, startTokenIssuer, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CompactSign } from 'jose';
import * as oauth from 'oauth4webapi';
import Provider from 'oidc-provider';
import { audience, startLaunchApi } from './launch-api.ts';

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ revocations: { has: (tokenId) => tokenId === 'revoked' } });
});
afterAll(() => api.stop());

const seconds = () => Math.floor(api.clock.now() / 1000);
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const goodClaims = () => ({
  iss: api.issuer.issuer,
  aud: audience,
  client_id: 'pms',
  scope: 'ocs-launch.write',
  iat: seconds(),
  exp: seconds() + 60,
});

const unreadable = 'the token cannot be read';
const wrongSignature = 'the signature of the token is invalid';
const unknownKey = 'the token is signed with a key that its issuer does not publish';
const wrongAlgorithm = 'the token is signed with an algorithm that is not accepted';

/** Expects a 401 without a body, and one challenge with the reason (RFC 6750 section 3). */
async function expectUnauthorized(token: string, reason: string) {
  const response = await api.post({ token });
  expect([response.status, await response.text()]).toEqual([401, '']);
  const challenge = response.headers.get('www-authenticate') ?? '';
  expect(challenge.replace(/: (?:exp|iat|nbf) \S+, server time \S+Z(?="$)/, '')).toBe(
    `Bearer error="invalid_token", error_description="${reason}"`,
  );
}

describe('a request without a valid token', () => {
  it('is answered with 401 and no body if it has no Authorization header, before the payload is checked', async () => {
    const response = await fetch(api.url, { method: 'POST', body: 'no json' });
    expect([response.status, await response.text()]).toEqual([401, '']);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each(['Basic cG1zOnNlY3JldA==', 'Bearer', 'Bearer not-a-token', 'Bearer a.b', 'bearer  a.b.c.d'])(
    'is answered with 401 for the header Authorization: %s',
    async (authorization) => {
      const response = await fetch(api.url, { method: 'POST', headers: { Authorization: authorization } });
      expect(response.status).toBe(401);
    },
  );

  it('is answered with 401 for a valid token with the scheme DPoP, which this API does not accept', async () => {
    const Authorization = `DPoP ${await api.issuer.sign()}`;
    const response = await fetch(api.url, { method: 'POST', headers: { Authorization } });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain(
      'the Authorization header has no Bearer token',
    );
  });

  const claimFaults: [string, string, () => Record<string, unknown>][] = [
    [
      'that expired longer ago than the clock tolerance',
      'the token has expired',
      () => ({ exp: seconds() - 11 }),
    ],
    ['without an expiry', 'the token has no valid expiry', () => ({ exp: undefined })],
    ['that is not valid yet', 'the token is not valid yet', () => ({ nbf: seconds() + 61 })],
    ['that was issued in the future', 'the token was issued in the future', () => ({ iat: seconds() + 61 })],
    [
      'that expires before it was issued',
      'the token expires before it was issued',
      () => ({ iat: seconds(), exp: seconds() - 5 }),
    ],
    [
      'that is valid for more than a week',
      'the token expires more than a week from now',
      () => ({ exp: seconds() + 8 * 24 * 3600 }),
    ],
    ['for another audience', 'the token is for another audience', () => ({ aud: 'api://another' })],
    ['without an audience', 'the token is for another audience', () => ({ aud: undefined })],
    ['of another issuer', 'the issuer is not trusted', () => ({ iss: 'https://idp.example' })],
    ['with a slash after its issuer', 'the issuer is not trusted', () => ({ iss: `${api.issuer.issuer}/` })],
    ['without an issuer', unreadable, () => ({ iss: undefined })],
    ['without a client', 'the token contains no client id', () => ({ client_id: undefined })],
    ['of an unregistered client', 'the client is not registered', () => ({ client_id: 'stranger' })],
    ['that was revoked', 'the token was revoked', () => ({ jti: 'revoked' })],
  ];
  it.each(claimFaults)(
    'is answered with 401 for a token %s, with the reason: %s',
    async (_fault, reason, claims) => {
      await expectUnauthorized(await api.issuer.sign({ claims: claims() }), reason);
    },
  );

  it.each([
    ['the token has expired', 'exp', -11],
    ['the token is not valid yet', 'nbf', 61],
    ['the token was issued in the future', 'iat', 61],
    ['the token was issued in the future', 'iat', 1e15],
  ])('is answered with both times if %s (%s %d s)', async (reason, name, difference) => {
    const sent = seconds() + difference;
    const { headers } = await api.post({ token: await api.issuer.sign({ claims: { [name]: sent } }) });
    const text = difference < 1e15 ? new Date(sent * 1000).toISOString() : String(sent);
    const times = `${name} ${text}, server time ${new Date(api.clock.now()).toISOString()}`;
    expect(headers.get('www-authenticate')).toContain(`error_description="${reason}: ${times}"`);
  });

  it.each([{ nonce: 'n' }, { aud: 'pms' }])(
    'is answered with 401 for an ID token with the claims %j',
    async (claims) => {
      const token = await api.issuer.sign({ header: { typ: 'JWT' }, claims });
      await expectUnauthorized(token, 'the token is an ID token');
    },
  );

  it('is answered with a reason that contains no value of the token', async () => {
    const claims = { iss: 'https://Whitfield.example', aud: 'Whitfield', client_id: 'Whitfield' };
    const rows = Object.entries(claims).map(([name, value]) => ({ claims: { [name]: value } }));
    for (const parts of [...rows, { header: { typ: 'Whitfield' } }, { header: { kid: 'Whitfield' } }]) {
      const { headers } = await api.post({ token: await api.issuer.sign(parts) });
      expect(headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"(?!.*Whitfield)/);
    }
  });

  it('is answered with a challenge that a third-party client (oauth4webapi) can read', async () => {
    const { WWWAuthenticateChallengeError, allowInsecureRequests, protectedResourceRequest } = oauth;
    const token = await api.issuer.sign({ claims: { exp: undefined } });
    const refused = await protectedResourceRequest(token, 'POST', new URL(api.url), undefined, undefined, {
      [allowInsecureRequests]: true,
    }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WWWAuthenticateChallengeError);
    const parameters = {
      error: 'invalid_token',
      error_description: 'the token has no valid expiry',
    };
    expect(refused).toMatchObject({ cause: [{ scheme: 'bearer', parameters }] });
  });

  it.each([
    ['has another type', 'the type in the header of the token is not at+jwt', { typ: 'JWT' }],
    ['has no key ID', 'the token has no key id', { kid: undefined }],
    ['has the ID of an unpublished key', unknownKey, { kid: 'another' }],
    ['has an unknown critical header', unreadable, { crit: ['exp'], exp: 1 }],
  ])('is answered with 401 for a token that %s, with the reason: %s', async (_fault, reason, header) => {
    const { kid, privateKey } = api.issuer.key;
    const parts = { alg: 'ES256', typ: 'at+jwt', kid, ...header };
    const signer = new CompactSign(Buffer.from(JSON.stringify(goodClaims())));
    // Serialising and parsing the header removes undefined members.
    signer.setProtectedHeader(JSON.parse(JSON.stringify(parts)));
    await expectUnauthorized(await signer.sign(privateKey, { crit: { exp: true } }), reason);
  });

  it.each(['exp', 'iat', 'nbf'])('is answered with 401 for a token whose %s is infinite', async (name) => {
    const numbers = name === 'exp' ? '1e400' : '-1e400';
    const claims = JSON.stringify({ ...goodClaims(), [name]: 'NUMBER' }).replace('"NUMBER"', numbers);
    const header = { alg: 'ES256', typ: 'at+jwt', kid: api.issuer.key.kid };
    const signer = new CompactSign(Buffer.from(claims)).setProtectedHeader(header);
    await expectUnauthorized(
      await signer.sign(api.issuer.key.privateKey),
      'a time in the token is not a finite number',
    );
  });

  it('is answered with 401 for a token signed with a published RSA key of less than 2048 bits', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'weak', alg: 'RS256', use: 'sig' };
    const keys = await listen((_request, response) => response.end(JSON.stringify({ keys: [key] })), {
      port: 0,
      host: '127.0.0.1',
    });
    const iss = `http://127.0.0.1:${keys.port}`;
    const trusting = await startLaunchApi({
      trustedIssuers: [{ issuer: iss, jwksUri: `${iss}/keys`, clients: [{ clientId: 'pms' }] }],
    });
    const signed = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: 'weak' })}.${encode({ ...goodClaims(), iss })}`;
    const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url');
    const { status } = await trusting.post({ token: `${signed}.${signature}` });
    await trusting.stop();
    await keys.stop();
    expect(status).toBe(401);
  });

  it('is answered with 401 for a token signed with another key that has the same key ID', async () => {
    const key = await createTestKey(api.issuer.key.kid);
    await expectUnauthorized(await api.issuer.sign({ key }), wrongSignature);
  });

  it('is answered with 401 for an unsigned token (alg none)', async () => {
    const header = encode({ alg: 'none', typ: 'at+jwt', kid: api.issuer.key.kid });
    await expectUnauthorized(
      `${header}.${encode(goodClaims())}.`,
      'the Authorization header has no Bearer token',
    );
    await expectUnauthorized(`${header}.${encode(goodClaims())}.AA`, wrongAlgorithm);
  });

  it('is answered with 401 for a token signed by HS256 with the public key as the secret', async () => {
    const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: api.issuer.key.kid })}.${encode(goodClaims())}`;
    const secrets = [JSON.stringify(api.issuer.key.publicJwk), api.issuer.key.publicJwk.x ?? ''];
    for (const secret of secrets) {
      await expectUnauthorized(
        `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`,
        wrongAlgorithm,
      );
    }
  });

  it('is answered with 401 for a token that contains its own key (jwk, jku)', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    for (const brought of [
      { jwk: publicKey.export({ format: 'jwk' }) },
      { jku: 'http://127.0.0.1:9/keys' },
    ]) {
      const header = { alg: 'ES256', typ: 'at+jwt', kid: 'mine', ...brought };
      const signer = new CompactSign(Buffer.from(JSON.stringify(goodClaims()))).setProtectedHeader(header);
      await expectUnauthorized(await signer.sign(privateKey), unknownKey);
    }
  });

  it('is answered with 401 for a token whose claims or signature were changed', async () => {
    const [header, claims = '', signature] = (await api.issuer.sign()).split('.');
    const changed = { ...goodClaims(), client_id: 'other' };
    await expectUnauthorized(`${header}.${encode(changed)}.${signature}`, wrongSignature);
    await expectUnauthorized(
      `${header}.${claims}.${signature?.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      wrongSignature,
    );
  });

  it('is answered with 401 for a cached token after its expiry', async () => {
    const token = await api.issuer.sign({ claims: { exp: seconds() + 5 } });
    expect((await api.post({ token })).status).toBe(200);
    api.clock.advance({ seconds: 16 });
    await expectUnauthorized(token, 'the token has expired');
  });
});

describe('the right to launch', () => {
  it.each([
    {},
    { scope: 'ocs-launch.read' },
    { scope: 'xocs-launch.write' },
    { scp: ['other'], roles: 'other' },
  ])('is missing in the claims %j, so the request is answered with 403 and no body', async (rights) => {
    const token = await api.issuer.sign({ claims: { scope: undefined, ...rights } });
    const response = await api.post({ token, body: 'no json' });
    expect([response.status, await response.text()]).toEqual([403, '']);
  });

  it.each([
    { scope: 'openid ocs-launch.write' },
    { scp: 'ocs-launch.write' },
    { scp: ['ocs-launch.write'] },
    { roles: ['ocs-launch.write'] },
  ])('is found in the claims %j', async (rights) => {
    const token = await api.issuer.sign({ claims: { scope: undefined, ...rights } });
    expect((await api.post({ token })).status).toBe(200);
  });
});

describe('the keys of an issuer', () => {
  it('are fetched once, not for every request', async () => {
    const fresh = await startLaunchApi();
    for (let count = 0; count < 5; count += 1) {
      const token = await fresh.issuer.sign({ claims: { jti: randomUUID() } });
      expect((await fresh.post({ token })).status).toBe(200);
    }
    expect(fresh.issuer.keyRequests()).toBe(1);
    await fresh.stop();
  });

  it('are checked again for a cached token after five minutes, so that a withdrawn key ends the token', async () => {
    const fresh = await startLaunchApi();
    const token = await fresh.issuer.sign({ claims: { exp: seconds() + 7200 } });
    await fresh.post();
    fresh.issuer.answer(false);
    fresh.clock.advance({ seconds: 3301 });
    const answers = [(await fresh.post({ token })).status];
    // The fetched keys end an hour after the first token. Without keys, only a cached token is accepted.
    for (const seconds of [299, 1]) {
      fresh.clock.advance({ seconds });
      answers.push((await fresh.post({ token })).status);
    }
    await fresh.stop();
    expect(answers).toEqual([200, 200, 503]);
  });

  it('cause 503 with Retry-After, never 401, while they cannot be fetched', async () => {
    const fresh = await startLaunchApi();
    fresh.issuer.answer(false);
    const down = await fresh.post();
    fresh.issuer.answer(true);
    fresh.clock.advance({ seconds: 2 });
    const up = await fresh.post();
    await fresh.stop();
    expect([down.status, down.headers.get('retry-after'), up.status]).toEqual([503, '2', 200]);
  });
});

describe('requests to a trusted issuer', () => {
  /**
   * Posts a token of an issuer on this machine with this `jwks_uri`. Returns the status and the fetched
   * paths.
   */
  async function trusting(jwksUri: (issuer: string) => string, allowedNetworks?: readonly string[]) {
    const asked: (string | undefined)[] = [];
    let issuer = '';
    const server = await listen(
      ({ url }, response) => {
        asked.push(url);
        response.end(JSON.stringify({ issuer, jwks_uri: jwksUri(issuer), keys: [] }));
      },
      { port: 0, host: '127.0.0.1' },
    );
    issuer = `http://127.0.0.1:${server.port}`;
    const trustedIssuers = [{ issuer, clients: [{ clientId: 'pms' }] }];
    const launching = await startLaunchApi({ trustedIssuers, ...(allowedNetworks && { allowedNetworks }) });
    const { status } = await launching.post({
      token: await launching.issuer.sign({ claims: { iss: issuer } }),
    });
    await launching.stop();
    await server.stop();
    return { status, asked };
  }

  it('fetch keys from the origin of the issuer', async () => {
    const { status, asked } = await trusting((issuer) => `${issuer}/keys`);
    expect([status, asked]).toEqual([401, ['/.well-known/openid-configuration', '/keys']]);
  });

  it('do not fetch keys from another origin, even if the discovery document refers to it', async () => {
    const trap: (string | undefined)[] = [];
    const other = await listen(({ url }, response) => response.end(String(trap.push(url))), {
      port: 0,
      host: '127.0.0.1',
    });
    const { status } = await trusting(() => `http://127.0.0.1:${other.port}/latest/meta-data/iam`);
    await other.stop();
    expect([status, trap]).toEqual([503, []]);
  });

  it('are not sent to a network that the operator has not allowed', async () => {
    expect(await trusting((issuer) => `${issuer}/keys`, [])).toEqual({ status: 503, asked: [] });
  });
});

describe('a token of node-oidc-provider', () => {
  it('is accepted through discovery if its issuer is registered', async () => {
    const { issuer, token, stop } = await startOidcProvider();
    const trusting = await startLaunchApi({
      trustedIssuers: [{ issuer, clients: [{ clientId: 'customer-pms' }] }],
    });
    // node-oidc-provider uses the machine's clock.
    trusting.clock.advance({ seconds: (Date.now() - trusting.clock.now()) / 1000 });
    const accepted = await trusting.post({ token });
    const elsewhere = await api.post({ token });
    await trusting.stop();
    await stop();
    expect([accepted.status, elsewhere.status]).toEqual([200, 401]);
  });
});

describe('the settings of a trusted issuer', () => {
  it('include its audience, the claim with its rights, the address of its keys, and its clients', async () => {
    const customer = await startTokenIssuer({ clock: api.clock, audience: 'api://of-the-customer' });
    const trusting = await startLaunchApi({
      trustedIssuers: [
        {
          issuer: customer.issuer,
          jwksUri: `${customer.issuer}/keys`,
          audiences: ['api://of-the-customer'],
          rightClaims: ['roles'],
          acceptsAnyTokenType: true,
          clients: [{ clientId: 'pms' }],
        },
      ],
    });
    const statusWith = async (claims: object, header = {}) => {
      const token = await customer.sign({
        claims: { iat: 0, roles: ['ocs-launch.write'], ...claims },
        header,
      });
      return (await trusting.post({ token })).status;
    };
    const statuses = {
      good: await statusWith({}),
      goodWithoutTheTypeOfRfc9068: await statusWith({}, { typ: 'JWT' }),
      rightInAnotherClaim: await statusWith({ roles: [], scope: 'ocs-launch.write' }),
      ourAudience: await statusWith({ aud: audience }),
      anotherClient: await statusWith({ client_id: 'stranger' }),
    };
    await trusting.stop();
    await customer.stop();
    expect(statuses).toEqual({
      good: 200,
      goodWithoutTheTypeOfRfc9068: 200,
      rightInAnotherClaim: 403,
      ourAudience: 401,
      anotherClient: 401,
    });
  });
});

type Terms = Omit<TrustedIssuer, 'issuer' | 'clients'>;

/** Posts a token of an issuer that is trusted with these settings. Returns the status of the answer. */
async function statusOf(terms: Terms, claims: object, header = {}, otherKeys: TestKey[] = []) {
  const customer = await startTokenIssuer({ clock: api.clock, audience, otherKeys });
  const trustedIssuers = [{ issuer: customer.issuer, ...terms, clients: [{ clientId: 'pms' }] }];
  const trusting = await startLaunchApi({ trustedIssuers });
  const { status } = await trusting.post({
    token: await customer.sign({ claims: { iat: 0, ...claims }, header }),
  });
  await trusting.stop();
  await customer.stop();
  return status;
}

describe('the client of a token', () => {
  it.each(['client_id', 'azp', 'appid'])(
    'is read from the claim %s, unless the registry names another claim',
    async (claim) => {
      expect(await statusOf({}, { client_id: undefined, [claim]: 'pms' })).toBe(200);
      expect(await statusOf({ clientIdClaim: 'cid' }, { client_id: undefined, [claim]: 'pms' })).toBe(401);
    },
  );

  it.each(['cid', 'azp', 'https://login.example/client'])(
    'is read only from the claim %s if the registry names this claim',
    async (clientIdClaim) => {
      const claims = { client_id: 'stranger', [clientIdClaim]: 'pms' };
      expect(await statusOf({ clientIdClaim }, claims)).toBe(200);
      expect(await statusOf({}, claims)).toBe(401);
      expect(await statusOf({ clientIdClaim }, { [clientIdClaim]: 'stranger' })).toBe(401);
      expect(await statusOf({ clientIdClaim }, { [clientIdClaim]: ['pms'] })).toBe(401);
    },
  );
});

describe('a token without a key ID', () => {
  const noKey = { kid: undefined };

  it('is accepted from an issuer with one or two keys if the registry allows missing key IDs', async () => {
    for (const others of [[], [await createTestKey('other-key')]]) {
      expect(await statusOf({ acceptsMissingKeyId: true }, {}, noKey, others)).toBe(200);
      expect(await statusOf({}, {}, noKey, others)).toBe(401);
    }
  });

  it('is refused if it was signed with a key that the issuer does not publish', async () => {
    const customer = await startTokenIssuer({ clock: api.clock, audience });
    const trustedIssuers = [
      { issuer: customer.issuer, acceptsMissingKeyId: true, clients: [{ clientId: 'pms' }] },
    ];
    const trusting = await startLaunchApi({ trustedIssuers });
    const key = await createTestKey('test-key');
    const { status } = await trusting.post({ token: await customer.sign({ header: noKey, key }) });
    await trusting.stop();
    await customer.stop();
    expect(status).toBe(401);
  });
});

describe('a token of the type at+jwt', () => {
  it.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])(
    'is an access token (%s), even if its audience is its client or it has a nonce',
    async (typ) => {
      const terms = { acceptsAnyTokenType: true, audiences: ['pms'] };
      expect(await statusOf(terms, { aud: 'pms', nonce: 'n' }, { typ })).toBe(200);
      expect(await statusOf(terms, { aud: 'pms' }, { typ: 'JWT' })).toBe(401);
    },
  );
});

describe('the rights that a trusted issuer may grant', () => {
  it('are the right to launch by default, or none if the registry lists none', async () => {
    expect(await statusOf({}, {})).toBe(200);
    expect(await statusOf({ grants: ['ocs-launch.write'] }, {})).toBe(200);
    expect(await statusOf({ grants: [] }, {})).toBe(403);
  });

  it('are granted only by tokens of the type at+jwt (RFC 9068), unless the registry allows any type', async () => {
    for (const typ of ['JWT', 'JOSE', undefined]) {
      expect(await statusOf({}, {}, { typ })).toBe(401);
      expect(await statusOf({ acceptsAnyTokenType: true }, {}, { typ })).toBe(200);
    }
  });

  it.each([
    { nonce: 'a nonce' },
    { at_hash: 'a hash' },
    { c_hash: 'a hash' },
    { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    { token_use: 'id' },
    { aud: ['pms', audience] },
    { client_id: undefined },
  ])('are never granted by an ID token or logout token with the claims %j', async (claims) => {
    expect(await statusOf({ acceptsAnyTokenType: true }, claims, { typ: 'JWT' })).toBe(401);
  });
});

async function startOidcProvider() {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'customer-pms',
        client_secret: 'a-secret-of-the-customer',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'ocs-launch.write',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from('customer-pms:a-secret-of-the-customer').toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'ocs-launch.write',
      resource: 'https://launch.example',
    }),
  });
  const answer = (await response.json()) as { access_token?: string };
  if (answer.access_token === undefined) throw new Error(`no token: ${JSON.stringify(answer)}`);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { issuer, token: answer.access_token, stop };
}
