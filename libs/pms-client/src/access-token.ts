import { readJsonAnswer } from './json-answer.ts';

/**
 * The type of the global `fetch`. It is inferred, so that the package depends neither on the types of Node
 * nor on those of the browser.
 */
type Fetch = typeof globalThis extends { fetch: infer Known } ? Known : never;

/** The OAuth 2.0 client credentials of a PMS, which are sent in the request body (OLTR: Authentication). */
export type TokenRequest = {
  /** The URL of the token endpoint: `{base}/idp/{realm}/oauth2/v2.0/token`. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The scope: `<APP_ID_URI>/.default`. */
  readonly scope: string;
  /**
   * Sends the requests, for instance through a proxy or with a client certificate. By default, the global
   * `fetch`.
   */
  readonly fetch?: Fetch;
};

/** The error that is thrown if the identity provider issues no access token. */
export class TokenRefused extends Error {
  readonly status: number;
  /**
   * The error code (RFC 6749 section 5.2), such as `invalid_client` for a wrong secret. Undefined if the
   * answer contains no code.
   */
  readonly error: string | undefined;

  constructor(status: number, error: string | undefined, description: string | undefined) {
    super(`The identity provider answered ${status} ${error ?? ''}: ${description ?? 'no description'}`);
    this.name = 'TokenRefused';
    this.status = status;
    this.error = error;
  }
}

/** Caches the access token of a client. Use this cache for APIs for which this package has no function. */
export type TokenCache = {
  /**
   * Returns the cached token, or a new token if the cached token expires soon.
   * @throws TokenRefused if the identity provider refuses the request. TypeError or TimeoutError of fetch if
   *   it does not answer.
   */
  get(): Promise<string>;
  /** Deletes a token that an API answered with 401, so that the next `get` requests a new token. */
  forget(token: string): void;
};

const renewedBeforeMs = 60_000;

/**
 * Creates a cache that keeps an access token until one minute before it expires, or for half of a lifetime
 * under two minutes. Concurrent callers share one token request.
 *
 * @example
 * ```ts
 * // Create the cache once in a process, not for each request.
 * const tokens = createTokenCache({ tokenUrl, clientId, clientSecret, scope });
 * const headers = { Authorization: `Bearer ${await tokens.get()}` };
 * ```
 * @param now Returns milliseconds since 1970. By default, the system clock.
 */
export function createTokenCache(request: TokenRequest, now: () => number = Date.now): TokenCache {
  let kept: { token: string; renewAt: number } | undefined;
  let pending: Promise<string> | undefined;

  const renew = async () => {
    const { token, expiresInSeconds } = await fetchToken(request);
    const lifetimeMs = expiresInSeconds * 1000;
    kept = { token, renewAt: now() + lifetimeMs - Math.min(renewedBeforeMs, lifetimeMs / 2) };
    return token;
  };
  return {
    async get() {
      if (kept !== undefined && kept.renewAt > now()) return kept.token;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    forget(token) {
      if (kept?.token === token) kept = undefined;
    },
  };
}

async function fetchToken({ tokenUrl, clientId, clientSecret, scope, fetch: send = fetch }: TokenRequest) {
  const response = await send(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  });
  const { access_token, expires_in, error, error_description } = await readJsonAnswer(response);
  if (!response.ok || typeof access_token !== 'string') {
    throw new TokenRefused(response.status, textOf(error), textOf(error_description));
  }
  return { token: access_token, expiresInSeconds: typeof expires_in === 'number' ? expires_in : 0 };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
