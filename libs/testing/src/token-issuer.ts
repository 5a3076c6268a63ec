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
};

/**
 * Starts an identity provider on a free port. The provider publishes its discovery document and keys, and
 * signs any token for a test, valid or not.
 */
export async function startTokenIssuer({ clock, audience, otherKeys = [] }: TokenIssuerOptions) {
  const key = await createTestKey('test-key');
  let isAnswering = true;
  let keyRequests = 0;
  const server = await listen(
    (request, response) => {
      if (!isAnswering) return void response.writeHead(500).end();
      response.setHeader('Content-Type', 'application/json');
      if (request.url === '/keys') {
        keyRequests += 1;
        return void response.end(
          JSON.stringify({ keys: [key, ...otherKeys].map(({ publicJwk }) => publicJwk) }),
        );
      }
      if (request.url === '/.well-known/openid-configuration') {
        return void response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
      }
      response.writeHead(404).end();
    },
    { port: 0, host: '127.0.0.1' },
  );
  const issuer = `http://127.0.0.1:${server.port}`;
  const seconds = () => Math.floor(clock.now() / 1000);

  return {
    issuer,
    key,
    /** The number of times that the keys were fetched. */
    keyRequests: () => keyRequests,
    /** Sets whether the discovery document and the keys are available. */
    answer(isUp: boolean) {
      isAnswering = isUp;
    },
    /**
     * Returns a token that is valid except for the changes of the test. A claim set to undefined is omitted.
     */
    sign({ claims = {}, header = {}, key: signingKey = key }: TokenParts = {}): Promise<string> {
      const all = {
        iss: issuer,
        aud: audience,
        sub: 'pms',
        client_id: 'pms',
        scope: 'ocs-launch.write',
        iat: seconds(),
        exp: seconds() + 3600,
        ...claims,
      };
      return new SignJWT(all)
        .setProtectedHeader({
          alg: signingKey.publicJwk.alg ?? 'ES256',
          typ: 'at+jwt',
          kid: signingKey.kid,
          ...header,
        })
        .sign(signingKey.privateKey);
    },
    stop: () => server.stop(),
  };
}
