import { readJsonAnswer } from './json-answer.ts';

/** How a PMS authenticates: OAuth 2.0 client credentials, the secret in the body (OLTR: Authentication). */
export type TokenRequest = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** `<APP_ID_URI>/.default` */
  readonly scope: string;
};

/** An access token was not given; `error` is the word of RFC 6749 section 5.2. */
export class TokenRefused extends Error {
  readonly status: number;
  readonly error: string | undefined;

  constructor(status: number, error: string | undefined, description: string | undefined) {
    super(`The identity provider answered ${status} ${error ?? ''}: ${description ?? 'no description'}`);
    this.name = 'TokenRefused';
    this.status = status;
    this.error = error;
  }
}

export type TokenCache = {
  /** A token that lives for another minute at least. @throws TokenRefused, or fetch's error. */
  get(): Promise<string>;
  /** Forgets a token that was not accepted. */
  forget(token: string): void;
};

const renewedBeforeMs = 60_000;

/**
 * Keeps one access token until shortly before it expires; callers that come together share one request.
 * @param now Milliseconds since 1970, for the expiry.
 */
export function createTokenCache(request: TokenRequest, now: () => number): TokenCache {
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

async function fetchToken({ tokenUrl, clientId, clientSecret, scope }: TokenRequest) {
  const response = await fetch(tokenUrl, {
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
