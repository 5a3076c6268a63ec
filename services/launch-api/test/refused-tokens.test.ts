import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { createTestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import { startLaunchApi } from './launch-api.ts';

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ revocations: { has: (tokenId) => tokenId === 'revoked' } });
});
afterAll(() => api.stop());

const seconds = () => Math.floor(api.clock.now() / 1000);

/** Returns the challenges of the 401 for a token, as a third-party client reads them. */
async function challengesOf(token: string) {
  const refused = await oauth
    .protectedResourceRequest(
      token,
      'POST',
      new URL(api.url),
      new Headers({ 'Content-Type': 'application/json' }),
      JSON.stringify(aServiceRequest()),
      { [oauth.allowInsecureRequests]: true },
    )
    .catch((error: unknown) => error);
  if (!(refused instanceof oauth.WWWAuthenticateChallengeError)) throw new Error('There is no challenge');
  expect([refused.status, await refused.response.text()]).toEqual([401, '']);
  return refused.cause;
}

type Parts = NonNullable<Parameters<typeof api.issuer.sign>[0]>;

describe('the challenge of a 401 (RFC 6750 section 3)', () => {
  const refused: [string, string, () => Parts | Promise<Parts>][] = [
    ['expired', 'the token expired', () => ({ claims: { exp: seconds() - 11 } })],
    ['without expiry', 'the token does not say when it expires', () => ({ claims: { exp: undefined } })],
    ['not valid yet', 'the token is not valid yet', () => ({ claims: { nbf: seconds() + 11 } })],
    ['from the future', 'the token is from the future', () => ({ claims: { iat: seconds() + 11 } })],
    ['for another audience', 'the token is for another audience', () => ({ claims: { aud: 'api://x' } })],
    ['of an unknown issuer', 'the issuer is not trusted', () => ({ claims: { iss: 'https://idp.example' } })],
    ['without an issuer', 'the token cannot be read', () => ({ claims: { iss: undefined } })],
    ['of a stranger', 'the client is not registered here', () => ({ claims: { client_id: 'stranger' } })],
    ['of no client', 'the token names no client', () => ({ claims: { client_id: undefined } })],
    ['revoked', 'the token was revoked', () => ({ claims: { jti: 'revoked' } })],
    [
      'of another type',
      'the type in the header of the token is not at+jwt',
      () => ({ header: { typ: 'JWT' } }),
    ],
    [
      'of a key that is not published',
      'the token is signed with a key that its issuer does not publish',
      async () => ({ key: await createTestKey('another') }),
    ],
    [
      "signed with a stranger's key",
      'the signature of the token is not valid',
      async () => ({ key: await createTestKey(api.issuer.key.kid) }),
    ],
  ];

  it.each(refused)('tells a client why its token is refused: %s', async (_fault, reason, parts) => {
    expect(await challengesOf(await api.issuer.sign(await parts()))).toEqual([
      { scheme: 'bearer', parameters: { error: 'invalid_token', error_description: reason } },
    ]);
  });

  it('tells it of a token that is no JWT, or signed as none may be', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const confused = `${encode({ alg: 'HS256', kid: 'x' })}.${encode({ iss: api.issuer.issuer })}.AA`;
    const reasons = [];
    for (const token of ['a.b', 'a.b.c', confused]) {
      const [challenge] = await challengesOf(token);
      reasons.push(challenge?.parameters.error_description);
    }
    expect(reasons).toEqual([
      'the Authorization header has no Bearer token',
      'the token cannot be read',
      'the token is signed with an algorithm that is not accepted',
    ]);
  });

  it('tells nothing to a request without a token but how to authenticate', async () => {
    const response = await fetch(api.url, { method: 'POST' });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('never has a value of the token', async () => {
    const claims = { iss: 'https://Whitfield.example', aud: 'Whitfield', client_id: 'Whitfield' };
    const rows = Object.entries(claims).map(([name, value]) => ({ claims: { [name]: value } }));
    for (const parts of [...rows, { header: { typ: 'Whitfield' } }, { header: { kid: 'Whitfield' } }]) {
      expect(JSON.stringify(await challengesOf(await api.issuer.sign(parts)))).not.toContain('Whitfield');
    }
  });
});
