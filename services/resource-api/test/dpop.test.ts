import { randomUUID } from 'node:crypto';
import { createTestKey, makeDpopProof, type TestKey, thumbprintOf } from '@clinical-launch/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, type JWK, SignJWT } from 'jose';
import { startResourceApi } from './running-resource-api.ts';

let api: Awaited<ReturnType<typeof startResourceApi>>;
let key: TestKey;
let bound: string;
beforeAll(async () => {
  api = await startResourceApi();
  key = await createTestKey('partner-key');
  bound = await api.sign({ cnf: { jkt: await thumbprintOf(key) } });
});
afterAll(() => api.stop());

type Changes = Partial<Omit<Parameters<typeof makeDpopProof>[0], 'clock'>>;

const proofFor = (changes: Changes = {}) =>
  makeDpopProof({
    key,
    clock: api.clock,
    method: 'GET',
    url: `${api.url}/resource/me`,
    token: bound,
    ...changes,
  });
const read = (authorization: string, proof?: string) =>
  fetch(`${api.url}/resource/me`, {
    headers: { authorization, ...(proof === undefined ? {} : { DPoP: proof }) },
  });
const seconds = () => Math.floor(api.clock.now() / 1000);

describe('an access token that is bound to a key (RFC 9449)', () => {
  it('is accepted with a proof by that key, and the answer is the launch of the token', async () => {
    const response = await read(`DPoP ${bound}`, await proofFor());
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ user: { familyName: 'Okonkwo' } });
    expect(api.published.at(-1)).toMatchObject({ type: 'resource.read.v1', data: { clientId: 'partner' } });
  });

  it('is refused as a Bearer token, so that a token that leaks opens nothing', async () => {
    for (const proof of [undefined, await proofFor()]) {
      const response = await read(`Bearer ${bound}`, proof);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_token", algs="/);
    }
  });

  it('is refused with a proof that was used before, however many bring it at once', async () => {
    const proof = await proofFor();
    const responses = await Promise.all(Array.from({ length: 20 }, () => read(`DPoP ${bound}`, proof)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  it('is refused with a proof that was used before, until the proof itself is too old', async () => {
    const proof = await proofFor({ claims: { iat: seconds() + 60 } });
    expect((await read(`DPoP ${bound}`, proof)).status).toBe(200);
    api.clock.advance({ seconds: 120 });
    expect((await read(`DPoP ${bound}`, proof)).status).toBe(401);
    api.clock.advance({ seconds: 1 });
    expect((await read(`DPoP ${bound}`, proof)).status).toBe(401);
  });

  const faults: [string, () => Promise<string | undefined> | string | undefined][] = [
    ['no proof', () => undefined],
    ['what is no JWT', () => 'nonsense'],
    ['two proofs', async () => `${await proofFor()}, ${await proofFor()}`],
    ['a proof by another key', async () => proofFor({ key: await createTestKey('thief') })],
    ['a proof for another method', () => proofFor({ method: 'POST' })],
    ['a proof for another address', () => proofFor({ url: `${api.url}/resource/patient` })],
    ['a proof for another host', () => proofFor({ url: 'https://other.example/resource/me' })],
    ['a proof for another token', () => proofFor({ token: 'another' })],
    ['a proof for no token', () => proofFor({ claims: { ath: undefined } })],
    ['a proof without a jti', () => proofFor({ claims: { jti: undefined } })],
    ['a proof that is too old', () => proofFor({ claims: { iat: seconds() - 61 } })],
    ['a proof from the future', () => proofFor({ claims: { iat: seconds() + 61 } })],
    ['a proof of another type', () => proofFor({ header: { typ: 'JWT' } })],
    ['a proof without its key', () => proofFor({ header: { jwk: undefined } })],
    [
      'a proof that shows its private key',
      async () => proofFor({ header: { jwk: await exportJWK(key.privateKey) } }),
    ],
    ['a proof by a shared secret', () => proofByHmac({ kty: 'oct', k: 'c2VjcmV0' })],
    ['a proof whose key is no point of its curve', () => proofFor({ header: { jwk: offCurve() } })],
  ];

  it.each(faults)('is refused with %s', async (_which, proof) => {
    const response = await read(`DPoP ${bound}`, await proof());
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof", algs="/);
    expect(await response.json()).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  const offCurve = (): JWK => ({ ...key.publicJwk, x: 'AA' });
  const proofByHmac = (jwk: JWK) =>
    new SignJWT({ jti: 'x', htm: 'GET', htu: `${api.url}/resource/me`, iat: seconds() })
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
      .sign(Buffer.from('secret'));

  it('ignores query and fragment of the address in the proof (RFC 9449 section 4.3)', async () => {
    const url = `${api.url.toUpperCase()}/resource/me?a=b#c`;
    expect((await read(`DPoP ${bound}`, await proofFor({ url }))).status).toBe(200);
  });

  it('is refused when it is bound in a way that is not known here', async () => {
    const token = await api.sign({ cnf: { kid: 'a key' } });
    expect((await read(`Bearer ${token}`)).status).toBe(401);
  });
});

describe('the reads of one launch', () => {
  it('are 300 in a minute, with or without proofs; then 429, without an event and without the proof', async () => {
    const sid = randomUUID();
    const token = await api.sign({ sid, cnf: { jkt: await thumbprintOf(key) } });
    const plain = await api.sign({ sid });
    const proof = () => proofFor({ token });
    for (let round = 0; round < 150; round += 1) {
      expect((await read(`DPoP ${token}`, await proof())).status).toBe(200);
      expect((await read(`Bearer ${plain}`)).status).toBe(200);
    }
    const events = api.published.length;
    const unused = await proof();
    const refused = await read(`DPoP ${token}`, unused);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await read(`Bearer ${plain}`)).status).toBe(429);
    expect(api.published).toHaveLength(events);
    expect((await read(`Bearer ${await api.sign()}`)).status).toBe(200);
    api.clock.advance({ seconds: 60 });
    expect((await read(`DPoP ${token}`, unused)).status).toBe(200);
  });
});

describe('an access token that is bound to no key', () => {
  it('is accepted as Bearer as before, and not as DPoP', async () => {
    const token = await api.sign();
    expect((await read(`Bearer ${token}`)).status).toBe(200);
    expect((await read(`DPoP ${token}`, await proofFor({ token }))).status).toBe(401);
  });
});

describe('a page of another origin', () => {
  it('may send a proof', async () => {
    const response = await fetch(`${api.url}/resource/me`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
    });
    expect(response.headers.get('access-control-allow-headers')).toContain('DPoP');
  });
});
