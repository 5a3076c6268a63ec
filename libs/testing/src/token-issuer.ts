import { listen } from '@clinical-launch/http/server';
import type { Clock } from '@clinical-launch/runtime/clock';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export type TestKey = { readonly kid: string; readonly privateKey: CryptoKey; readonly publicJwk: JWK };

type TokenParts = {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: TestKey;
};

/** Creates a signing key of an identity provider. */
export async function createTestKey(kid: string, alg = 'ES256'): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

type TokenIssuerOptions = {
  readonly clock: Clock;
  readonly audience: string;
  /** The keys that the issuer publishes in addition to its own key. */
  readonly otherKeys?: readonly TestKey[];
  /** Entries that the issuer publishes before its keys, such as entries that are no keys. */
  readonly oddKeys?: readonly unknown[];
  /** The path of the issuer. */
  readonly path?: string;
  /** What is before the JSON of each answer, such as a byte order mark. */
  readonly prefix?: string;
};

const goodClaims = { sub: 'pms', client_id: 'pms', scope: 'ocs-launch.write' };

/**
 * Starts an identity provider on a free port. The provider publishes its discovery document and keys, and
 * signs any token for a test, valid or not.
 */
export async function startTokenIssuer({
  clock,
  audience,
  otherKeys = [],
  oddKeys = [],
  path = '',
  prefix = '',
}: TokenIssuerOptions) {
  const key = await createTestKey('test-key');
  let isAnswering = true;
  let keyRequests = 0;
  let requests = 0;
  const server = await listen(
    (request, response) => {
      requests += 1;
      if (!isAnswering) return void response.writeHead(500).end();
      response.setHeader('Content-Type', 'application/json');
      if (request.url === '/keys') {
        keyRequests += 1;
        const published = [key, ...otherKeys].map(({ publicJwk }) => publicJwk);
        return void response.end(prefix + JSON.stringify({ keys: [...oddKeys, ...published] }));
      }
      if (request.url === `${path.replace(/\/$/, '')}/.well-known/openid-configuration`) {
        return void response.end(prefix + JSON.stringify({ issuer, jwks_uri: `${origin}/keys` }));
      }
      response.writeHead(404).end();
    },
    { port: 0, host: '127.0.0.1' },
  );
  const origin = `http://127.0.0.1:${server.port}`;
  const issuer = `${origin}${path}`;
  const seconds = () => Math.floor(clock.now() / 1000);

  return {
    issuer,
    key,
    /** The number of times that the keys were fetched. */
    keyRequests: () => keyRequests,
    /** The number of all requests, answered or not. */
    requests: () => requests,
    /** Sets whether the discovery document and the keys are available. */
    answer(isUp: boolean) {
      isAnswering = isUp;
    },
    /**
     * Returns a token that is valid except for the changes of the test. A claim set to undefined is omitted.
     */
    sign: ({ claims = {}, header = {}, key: signingKey = key }: TokenParts = {}): Promise<string> => {
      const times = { iat: seconds(), exp: seconds() + 3600 };
      const { kid, publicJwk, privateKey } = signingKey;
      return new SignJWT({ ...goodClaims, iss: issuer, aud: audience, ...times, ...claims })
        .setProtectedHeader({ alg: publicJwk.alg ?? 'ES256', typ: 'at+jwt', kid, ...header })
        .sign(privateKey);
    },
    stop: () => server.stop(),
  };
}
