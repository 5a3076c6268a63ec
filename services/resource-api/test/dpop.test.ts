import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { makeDpopProof, thumbprintOf } from '@clinical-launch/testing/dpop-proof';
import { createTestKey, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calculateJwkThumbprint, exportJWK, type JWK, SignJWT } from 'jose';
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
    headers: { authorization, ...withoutUndefined({ DPoP: proof }) },
  });
const seconds = () => Math.floor(api.clock.now() / 1000);

describe('an access token bound to a key (RFC 9449)', () => {
  it('is accepted with a DPoP proof by that key', async () => {
    const response = await read(`DPoP ${bound}`, await proofFor());
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ user: { familyName: 'Okonkwo' } });
    expect(api.published.at(-1)).toMatchObject({ type: 'resource.read.v1', data: { clientId: 'partner' } });
  });

  it('is refused as a Bearer token, so that a leaked token is useless', async () => {
    for (const proof of [undefined, await proofFor()]) {
      const response = await read(`Bearer ${bound}`, proof);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_token", algs="/);
    }
  });

  it('is accepted only once if concurrent requests send the same proof', async () => {
    const proof = await proofFor();
    const responses = await Promise.all(Array.from({ length: 20 }, () => read(`DPoP ${bound}`, proof)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  it('is accepted at the UserInfo endpoint once for a proof of its method', async () => {
    const url = `${api.url}/resource/userinfo`;
    const proof = await proofFor({ url, method: 'POST' });
    const statusOf = async (method: string, DPoP: string) =>
      (await fetch(url, { method, headers: { authorization: `DPoP ${bound}`, DPoP } })).status;
    expect(await statusOf('GET', proof)).toBe(401);
    expect([await statusOf('POST', proof), await statusOf('POST', proof)]).toEqual([200, 401]);
  });

  it('is refused with a used proof, both before and after the proof becomes too old', async () => {
    const proof = await proofFor({ claims: { iat: seconds() + 60 } });
    expect((await read(`DPoP ${bound}`, proof)).status).toBe(200);
    api.clock.advance({ seconds: 120 });
    expect((await read(`DPoP ${bound}`, proof)).status).toBe(401);
    api.clock.advance({ seconds: 1 });
    expect((await read(`DPoP ${bound}`, proof)).status).toBe(401);
  });

  const faults: [string, () => Promise<string | undefined> | string | undefined][] = [
    ['no proof', () => undefined],
    ['a proof that is not a JWT', () => 'nonsense'],
    ['two proofs', async () => `${await proofFor()}, ${await proofFor()}`],
    ['a proof by another key', async () => proofFor({ key: await createTestKey('thief') })],
    ['a proof for another method', () => proofFor({ method: 'POST' })],
    ['a proof for another address', () => proofFor({ url: `${api.url}/resource/patient` })],
    ['a proof for another host', () => proofFor({ url: 'https://other.example/resource/me' })],
    ['a proof for another token', () => proofFor({ token: 'another' })],
    ['a proof without a token hash', () => proofFor({ claims: { ath: undefined } })],
    ['a proof without a jti', () => proofFor({ claims: { jti: undefined } })],
    ['a proof that is too old', () => proofFor({ claims: { iat: seconds() - 61 } })],
    ['a proof issued in the future', () => proofFor({ claims: { iat: seconds() + 61 } })],
    ['a proof of another type', () => proofFor({ header: { typ: 'JWT' } })],
    ['a proof without its key', () => proofFor({ header: { jwk: undefined } })],
    [
      'a proof that contains its private key',
      async () => proofFor({ header: { jwk: await exportJWK(key.privateKey) } }),
    ],
    ['a proof signed with a shared secret', () => proofByHmac({ kty: 'oct', k: 'c2VjcmV0' })],
    ['a proof whose key is not on its curve', () => proofFor({ header: { jwk: offCurve() } })],
  ];

  it.each(faults)('is refused with %s', async (_which, proof) => {
    const response = await read(`DPoP ${bound}`, await proof());
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof", algs="/);
    expect(await response.json()).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  it('is refused with both times if the proof is too old', async () => {
    const response = await read(`DPoP ${bound}`, await proofFor({ claims: { iat: seconds() - 61 } }));
    const sent = new Date((seconds() - 61) * 1000).toISOString();
    const times = `(iat ${sent}, server time ${new Date(api.clock.now()).toISOString()})`;
    expect(await response.json()).toMatchObject({ error_description: expect.stringContaining(times) });
  });

  describe('that is an RSA key', () => {
    const fault = /exponent 65537 and a modulus of 2,048 to 4,096 bits/;
    const rsaProof = async (bits: number, publicExponent = 65_537) => {
      const pair = generateKeyPairSync('rsa', { modulusLength: bits, publicExponent });
      const jwk = pair.publicKey.export({ format: 'jwk' });
      const claims = { jti: randomUUID(), htm: 'GET', htu: `${api.url}/resource/me`, iat: seconds() };
      const token = await api.sign({ cnf: { jkt: await calculateJwkThumbprint(jwk) } });
      const ath = createHash('sha256').update(token).digest('base64url');
      const proof = await new SignJWT({ ...claims, ath })
        .setProtectedHeader({ alg: 'RS256', typ: 'dpop+jwt', jwk })
        .sign(pair.privateKey);
      return { token, proof };
    };
    const faultOf = async ({ token, proof }: { token: string; proof: string }) => {
      const response = await read(`DPoP ${token}`, proof);
      const { error, error_description } = (await response.json()) as Record<string, unknown>;
      return { status: response.status, error, error_description };
    };

    it.each([2048, 4096])('is accepted with a modulus of %d bits', async (bits) => {
      const { token, proof } = await rsaProof(bits);
      expect((await read(`DPoP ${token}`, proof)).status).toBe(200);
    });

    it.each([
      ['a modulus of 4,104 bits', 4104, 65_537],
      ['the exponent 3', 2048, 3],
      ['the exponent 65539', 2048, 65_539],
    ])('is refused with %s', async (_which, bits, exponent) => {
      const error_description = expect.stringMatching(fault);
      const refusal = { status: 401, error: 'invalid_dpop_proof', error_description };
      expect(await faultOf(await rsaProof(bits, exponent))).toEqual(refusal);
    });

    it('is refused because of the key of its proof before the signature is verified', async () => {
      const large = randomBytes(2048).toString('base64url');
      for (const jwk of [
        { kty: 'RSA', n: large, e: 'AQAB' },
        { kty: 'RSA', n: large.slice(0, 400), e: large },
        { kty: 'RSA', n: '', e: 'AQAB' },
      ]) {
        const header = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'dpop+jwt', jwk }));
        const proof = `${header.toString('base64url')}.e30.AAAA`;
        expect(await faultOf({ token: bound, proof })).toMatchObject({
          status: 401,
          error_description: expect.stringMatching(fault),
        });
      }
    });
  });

  const offCurve = (): JWK => ({ ...key.publicJwk, x: 'AA' });
  const proofByHmac = (jwk: JWK) =>
    new SignJWT({ jti: 'x', htm: 'GET', htu: `${api.url}/resource/me`, iat: seconds() })
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
      .sign(Buffer.from('secret'));

  it('is accepted with a proof whose htu has a query and a fragment (RFC 9449 section 4.3)', async () => {
    const url = `${api.url.toUpperCase()}/resource/me?a=b#c`;
    expect((await read(`DPoP ${bound}`, await proofFor({ url }))).status).toBe(200);
  });

  it('is refused if its cnf claim contains an unknown confirmation method', async () => {
    const token = await api.sign({ cnf: { kid: 'a key' } });
    expect((await read(`Bearer ${token}`)).status).toBe(401);
  });
});

describe('the requests of one launch', () => {
  it('are limited to 300 a minute, and a 429 publishes no event and leaves the proof usable', async () => {
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

describe('an access token that is not bound to a key', () => {
  it('is accepted as a Bearer token but not as a DPoP token', async () => {
    const token = await api.sign();
    expect((await read(`Bearer ${token}`)).status).toBe(200);
    expect((await read(`DPoP ${token}`, await proofFor({ token }))).status).toBe(401);
  });
});

describe('a page of another origin', () => {
  it('may send a DPoP proof by CORS', async () => {
    const response = await fetch(`${api.url}/resource/me`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
    });
    expect(response.headers.get('access-control-allow-headers')).toContain('DPoP');
  });
});
