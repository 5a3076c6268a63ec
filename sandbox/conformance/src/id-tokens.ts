import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { type Exchange, endpointOf, membersOf, type ProxiedAnswer } from './exchange.ts';

type SigningKey = { readonly kid: string; readonly privateKey: CryptoKey };

/**
 * The maximum number of published substitute keys. If there are more, the oldest key is no longer published.
 */
const maxPublished = 100;

export type KeySubstitutes = ReturnType<typeof createKeySubstitutes>;

/**
 * Creates the substitute keys with which a proxy signs ID tokens instead of the platform's keys. A key is
 * created when a client first needs it, and published only from then on. Keys stay in memory.
 */
export function createKeySubstitutes() {
  let published: readonly JWK[] = [];
  let isRotated = false;
  const keys = new Map<string, Promise<SigningKey>>();

  const createKey = async (alg: string): Promise<SigningKey> => {
    const { publicKey, privateKey } = await generateKeyPair(alg);
    const kid = randomUUID();
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    published = [...published, jwk].slice(-maxPublished);
    return { kid, privateKey };
  };

  /**
   * Returns an ID token with changed claims, signed with the substitute key of its client.
   * @param isNewKey replaces the substitute key of the client
   */
  const sign = async (
    idToken: string,
    { claims = {}, isNewKey = false }: { readonly claims?: JWTPayload; readonly isNewKey?: boolean } = {},
  ): Promise<string> => {
    const { alg = 'RS256', ...header } = decodeProtectedHeader(idToken);
    const payload = decodeJwt(idToken);
    const name = `${alg} ${String(payload.aud)}`;
    const key = (isNewKey ? undefined : keys.get(name)) ?? createKey(alg);
    keys.set(name, key);
    const { kid, privateKey } = await key;
    return new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ ...header, alg, kid })
      .sign(privateKey);
  };

  return {
    sign,

    /**
     * Replaces the keys of all clients. Their next ID tokens are signed with keys that are published only
     * from then on.
     */
    rotate(): void {
      isRotated = true;
      keys.clear();
    },

    /**
     * Adds the substitute keys to the public keys of the platform. After a rotation, signs the ID token of a
     * token answer with a substitute key. Returns undefined for any other answer.
     */
    async alter({ request, answer }: Exchange): Promise<{ readonly answer: ProxiedAnswer } | undefined> {
      const endpoint = endpointOf(request);
      if (answer.status !== 200) return undefined;
      const members = membersOf(answer.body);
      if (endpoint === 'keys' && Array.isArray(members['keys'])) {
        const body = withMembers(answer, { keys: [...members['keys'], ...published] });
        // Forbids caching, because a cached answer would not contain a key that is published shortly before
        // its first use.
        return { answer: { ...body, headers: { ...body.headers, 'cache-control': 'no-store' } } };
      }
      const idToken = members['id_token'];
      if (endpoint !== 'token' || typeof idToken !== 'string' || !isRotated) return undefined;
      return { answer: withMembers(answer, { id_token: await sign(idToken) }) };
    },
  };
}

/** Returns a JSON answer with changed members. */
export const withMembers = (answer: ProxiedAnswer, members: object): ProxiedAnswer => ({
  ...answer,
  body: Buffer.from(JSON.stringify({ ...membersOf(answer.body), ...members })),
});

/** Returns a token whose signature is wrong. */
export function withWrongSignature(token: string): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return [header, payload, bytes.toString('base64url')].join('.');
}

/**
 * Returns a logout token for the session of an ID token, signed with a key that is not published (OpenID
 * Connect Back-Channel Logout 1.0 section 2.4).
 */
export async function forgeLogoutToken(idToken: string, now: number): Promise<string> {
  const { alg = 'RS256', kid } = decodeProtectedHeader(idToken);
  const { iss, aud, sid } = decodeJwt(idToken);
  const { privateKey } = await generateKeyPair(alg);
  const iat = Math.floor(now / 1000);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const claims = { iss, aud, sid, iat, exp: iat + 120, jti: randomUUID(), events };
  return new SignJWT(withoutUndefined(claims))
    .setProtectedHeader({ alg, typ: 'logout+jwt', ...(kid === undefined ? {} : { kid }) })
    .sign(privateKey);
}
