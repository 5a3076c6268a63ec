import { describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify, SignJWT } from 'jose';
import type { Exchange } from '../src/exchange.ts';
import {
  createKeySubstitutes,
  forgeLogoutToken,
  type KeySubstitutes,
  withWrongSignature,
} from '../src/id-tokens.ts';

const realm = 'http://localhost:8080/idp/demo/desktop';

/** Returns an answer of the platform with one public key, or with an ID token. */
const anExchange = (
  path: string,
  members: object,
  headers: Exchange['answer']['headers'] = {},
): Exchange => ({
  direction: 'received',
  request: { method: 'GET', url: new URL(realm + path), headers: {}, body: '', at: 0 },
  answer: { status: 200, headers, body: Buffer.from(JSON.stringify(members)) },
  answeredAt: 0,
});

const ofPlatform = { kty: 'oct', kid: 'platform' };

async function publishedBy(keys: KeySubstitutes) {
  const headers = { 'cache-control': 'public, max-age=300' };
  const altered = await keys.alter(anExchange('/discovery/v2.0/keys', { keys: [ofPlatform] }, headers));
  const set: JSONWebKeySet = JSON.parse(String(altered?.answer.body));
  return { set, headers: altered?.answer.headers };
}

const idTokenOf = (aud: string) =>
  new SignJWT({ iss: realm, aud, sid: 'S', at_hash: 'right' })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'platform' })
    .sign(platformKey);
const { privateKey: platformKey } = await crypto.subtle.generateKey(
  {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
  true,
  ['sign', 'verify'],
);

const isVerifiedBy = (token: string, set: JSONWebKeySet) =>
  jwtVerify(token, createLocalJWKSet(set)).then(
    () => true,
    () => false,
  );

describe('the substitute keys of ID tokens', () => {
  it('are published only after they signed a token, together with the keys of the platform, and are never cached', async () => {
    const keys = createKeySubstitutes();
    const before = await publishedBy(keys);
    expect(before).toEqual({ set: { keys: [ofPlatform] }, headers: { 'cache-control': 'no-store' } });
    const signed = await keys.sign(await idTokenOf('one'), { claims: { at_hash: 'wrong' } });
    const { set } = await publishedBy(keys);
    expect(set.keys.map(({ kid }) => kid)).toContain('platform');
    expect(await isVerifiedBy(signed, set)).toBe(true);
    expect(decodeJwt(signed)).toEqual({ iss: realm, aud: 'one', sid: 'S', at_hash: 'wrong' });
    expect(set.keys.every((key) => key['d'] === undefined)).toBe(true);
  });

  it('each sign the tokens of one client until they are replaced, and remain published afterwards', async () => {
    const keys = createKeySubstitutes();
    const token = await idTokenOf('one');
    const [first, second, other] = [
      await keys.sign(token),
      await keys.sign(token),
      await keys.sign(await idTokenOf('two')),
    ];
    const replaced = await keys.sign(token, { isNewKey: true });
    const kids = [first, second, other, replaced].map((one) => one.split('.')[0]);
    expect(kids[0]).toBe(kids[1]);
    expect(new Set(kids).size).toBe(3);
    const { set } = await publishedBy(keys);
    for (const one of [first, other, replaced]) expect(await isVerifiedBy(one, set)).toBe(true);
  });

  it('re-sign the ID token of a token response only after a rotation, with a new key after each rotation', async () => {
    const keys = createKeySubstitutes();
    const answer = anExchange('/oauth2/v2.0/token', { id_token: await idTokenOf('one'), expires_in: 60 });
    expect(await keys.alter(answer)).toBeUndefined();
    keys.rotate();
    const altered = await keys.alter(answer);
    const members = JSON.parse(String(altered?.answer.body));
    const { set } = await publishedBy(keys);
    expect(members.expires_in).toBe(60);
    expect(await isVerifiedBy(members.id_token, set)).toBe(true);
    keys.rotate();
    const again = JSON.parse(String((await keys.alter(answer))?.answer.body));
    expect(await isVerifiedBy(again.id_token, set)).toBe(false);
  });

  it('verify neither a token with a wrong signature nor a forged logout token', async () => {
    const keys = createKeySubstitutes();
    const signed = await keys.sign(await idTokenOf('one'));
    const forged = await forgeLogoutToken(signed, Date.parse('2026-03-02T09:30:00Z'));
    const { set } = await publishedBy(keys);
    expect(await isVerifiedBy(withWrongSignature(signed), set)).toBe(false);
    expect(await isVerifiedBy(forged, set)).toBe(false);
    expect(decodeJwt(forged)).toMatchObject({ iss: realm, aud: 'one', sid: 'S' });
  });
});
