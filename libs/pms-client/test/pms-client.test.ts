import { TestClock } from '@clinical-launch/testing/test-clock';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createPkcePair, createPmsClient, LaunchRefused, TokenRefused } from '../src/index.ts';
import { challengeOf, correlationId, startOtherSide } from './other-side.ts';

let other: Awaited<ReturnType<typeof startOtherSide>>;
let clock: TestClock;
beforeEach(async () => {
  other = await startOtherSide();
  clock = new TestClock();
});
afterEach(() => other.stop());

const createClient = (changes: { baseUrl?: string } = {}) =>
  createPmsClient({ ...other.options, now: () => clock.now(), ...changes });
const payload = { resourceType: 'ServiceRequest', note: 'Ó \u{20bb7}' };
const tokensSent = () => other.launchRequests.map(({ headers }) => headers.authorization);

/** Returns the LaunchRefused error with which a launch is rejected. */
async function refusalOf(launch: Promise<unknown>): Promise<LaunchRefused> {
  const error: unknown = await launch.catch((reason: unknown) => reason);
  if (error instanceof LaunchRefused) return error;
  throw new Error('The launch was not refused', { cause: error });
}

describe('a launch', () => {
  it('is requested with an access token, the payload and the challenge of its code verifier', async () => {
    const launch = await createClient().requestLaunch(payload);
    const [request] = other.launchRequests;
    expect(request?.path).toBe('/AccessApi/RequestLaunchUrl');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer token-1',
      'content-type': 'application/json',
    });
    expect(JSON.parse(request?.body ?? '')).toEqual(payload);
    expect(launch.correlationId).toBe(correlationId);
    const url = new URL(launch.url);
    expect(url.searchParams.get('launchToken')).toBe('T');
    expect(challengeOf(url.searchParams.get('codeVerifier') ?? '')).toBe(request?.headers['code-challenge']);
    expect(request?.body).not.toContain(url.searchParams.get('codeVerifier'));
  });

  it('and its access token are requested with the `fetch` function in the options', async () => {
    const sent: string[] = [];
    const client = createPmsClient({
      ...other.options,
      fetch: (address, init) => {
        sent.push(new Request(address).url);
        return fetch(address, init);
      },
    });
    await client.requestLaunch(payload);
    expect(sent).toEqual([other.options.tokenUrl, `${other.url}/AccessApi/RequestLaunchUrl`]);
  });

  it('has a code verifier that no other launch has', async () => {
    const client = createClient();
    await client.requestLaunch(payload);
    await client.requestLaunch(payload);
    const challenges = other.launchRequests.map(({ headers }) => headers['code-challenge']);
    expect(new Set(challenges).size).toBe(2);
  });

  it.each(['', '/', '/oltr/v1', '/oltr/v1/'])(
    'is requested under a base URL with the path %j',
    async (base) => {
      await createClient({ baseUrl: other.url + base }).requestLaunch(payload);
      const below = base.replace(/\/$/, '');
      expect(other.launchRequests[0]?.path).toBe(`${below}/AccessApi/RequestLaunchUrl`);
    },
  );
});

describe('the access token', () => {
  it('is requested with the client credentials in the request body', async () => {
    await createClient().requestLaunch(payload);
    const [request] = other.tokenRequests;
    expect(request?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'pms',
      client_secret: 'a secret & more',
      scope: 'api://clinical-launch/.default',
    });
  });

  it('is cached until one minute before it expires', async () => {
    const client = createClient();
    await client.requestLaunch(payload);
    clock.advance({ seconds: 3600 - 61 });
    await client.requestLaunch(payload);
    expect(other.tokenRequests).toHaveLength(1);
    clock.advance({ seconds: 1 });
    await client.requestLaunch(payload);
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it('is cached for half of its lifetime if it is valid for only a minute', async () => {
    other.answerTokenWith((count) => ({ body: { access_token: `token-${count}`, expires_in: 60 } }));
    const client = createClient();
    await client.requestLaunch(payload);
    clock.advance({ seconds: 29 });
    await client.requestLaunch(payload);
    clock.advance({ seconds: 1 });
    await client.requestLaunch(payload);
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it('is not cached if its lifetime is unknown', async () => {
    other.answerTokenWith((count) => ({ body: { access_token: `token-${count}` } }));
    const client = createClient();
    await client.requestLaunch(payload);
    await client.requestLaunch(payload);
    expect(other.tokenRequests).toHaveLength(2);
  });

  it('is requested only once if several launches need it at the same time', async () => {
    const client = createClient();
    await Promise.all(Array.from({ length: 20 }, () => client.requestLaunch(payload)));
    expect(other.tokenRequests).toHaveLength(1);
    expect(other.launchRequests).toHaveLength(20);
  });

  it('is requested again by the next launch if the identity provider refused it', async () => {
    const client = createClient();
    other.answerTokenWith(() => ({
      status: 401,
      body: { error: 'invalid_client', error_description: 'The secret is not known' },
    }));
    const refusal: unknown = await client.requestLaunch(payload).catch((reason: unknown) => reason);
    expect(refusal).toBeInstanceOf(TokenRefused);
    expect(refusal).toMatchObject({
      status: 401,
      error: 'invalid_client',
      message: expect.stringContaining('The secret is not known'),
    });
    expect(String(refusal)).not.toContain('a secret & more');
    other.answerTokenWith(() => ({ body: { access_token: 'another', expires_in: 3600 } }));
    await client.requestLaunch(payload);
    expect(tokensSent()).toEqual(['Bearer another']);
  });

  it.each([[500], [200]])(
    'is treated as refused if an answer with status %i contains no token',
    async (status) => {
      for (const body of [undefined, null, 'text', [], { access_token: 1 }]) {
        other.answerTokenWith(() => ({ status, body }));
        await expect(createClient().requestLaunch(payload)).rejects.toThrow(TokenRefused);
      }
    },
  );
});

describe('a launch that is answered 401', () => {
  const only = (token: string) =>
    other.answerLaunchWith(({ headers }) =>
      headers.authorization === `Bearer ${token}`
        ? { body: { url: 'https://oltr.example/?launchToken=T' } }
        : { status: 401 },
    );

  it('is repeated with a new token', async () => {
    const client = createClient();
    await client.requestLaunch(payload);
    only('token-2');
    await client.requestLaunch(payload);
    await client.requestLaunch(payload);
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
    expect(other.tokenRequests).toHaveLength(2);
  });

  it('causes only one request for a new token, even if several launches are answered 401 at the same time', async () => {
    const client = createClient();
    await client.requestLaunch(payload);
    only('token-2');
    await Promise.all(Array.from({ length: 10 }, () => client.requestLaunch(payload)));
    expect(other.tokenRequests).toHaveLength(2);
  });

  it('is refused if the request with the new token is answered 401 as well', async () => {
    other.answerLaunchWith(() => ({ status: 401 }));
    const refusal = await refusalOf(createClient().requestLaunch(payload));
    expect(refusal.status).toBe(401);
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });
});

describe('a refused launch', () => {
  it('contains the status, the correlation id and the errors of an answer 400', async () => {
    const errors = [
      {
        path: 'contained[1].name[0].family',
        message: 'is required',
        code: 'required',
        resource: 'Patient #p',
      },
      { path: 'subject', message: 'is required' },
    ];
    other.answerLaunchWith(() => ({ status: 400, body: { status: 400, errors } }));
    const refusal = await refusalOf(createClient().requestLaunch(payload));
    expect(refusal).toMatchObject({ status: 400, correlationId, faults: errors });
    expect(refusal.retryAfterSeconds).toBeUndefined();
    expect(refusal.message).toContain(correlationId);
  });

  it.each([429, 503])('contains the time to wait after an answer %i', async (status) => {
    other.answerLaunchWith(() => ({ status, headers: { 'Retry-After': '2' } }));
    const refusal = await refusalOf(createClient().requestLaunch(payload));
    expect(refusal).toMatchObject({ status, retryAfterSeconds: 2, faults: [] });
  });

  it.each([403, 409, 500])('is not requested again after the status %i', async (status) => {
    other.answerLaunchWith(() => ({ status }));
    expect(await refusalOf(createClient().requestLaunch(payload))).toMatchObject({ status, correlationId });
    expect(other.launchRequests).toHaveLength(1);
  });

  it.each([[null], ['text'], [{ errors: 'none' }], [[1]]])(
    'contains no errors if a proxy answered with the body %j',
    async (body) => {
      other.answerLaunchWith(() => ({ status: 502, body }));
      expect(await refusalOf(createClient().requestLaunch(payload))).toMatchObject({
        status: 502,
        faults: [],
      });
    },
  );

  it('can have status 200, if the answer contains no launch URL', async () => {
    other.answerLaunchWith(() => ({ status: 200, body: { link: 'x' } }));
    expect(await refusalOf(createClient().requestLaunch(payload))).toMatchObject({ status: 200 });
  });

  it('is not requested again at the target of a redirect, because fetch rejects the redirect', async () => {
    other.answerLaunchWith(() => ({ status: 307, headers: { Location: `${other.url}/elsewhere` } }));
    await expect(createClient().requestLaunch(payload)).rejects.toThrow('fetch failed');
    expect(other.launchRequests).toHaveLength(1);
  });
});

describe('a PKCE pair', () => {
  it('contains 64 random bytes in Base64URL, and the SHA-256 of that text (S256, RFC 7636)', () => {
    const pairs = Array.from({ length: 100 }, createPkcePair);
    for (const { codeVerifier, codeChallenge } of pairs) {
      expect(codeVerifier).toMatch(/^[A-Za-z0-9_-]{86}$/);
      expect(codeChallenge).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(codeChallenge).toBe(challengeOf(codeVerifier));
    }
    expect(new Set(pairs.map(({ codeVerifier }) => codeVerifier)).size).toBe(100);
  });
});
