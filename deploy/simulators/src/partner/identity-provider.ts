import { createPkcePair } from '@clinical-launch/pms-client';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';

/** The values that onboarding assigned to the partner application, and its registration. */
export type Onboarding = {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
};

/** A pending authorization request: the verifier stays here, the form goes through the browser. */
export type Authorization = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly endpoint: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Tokens = {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** The verified claims of the ID token. */
  readonly claims: JWTPayload;
  readonly expiresInSeconds: number;
};

/** The identity provider issued no tokens, or none that can be trusted. */
export class TokensRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TokensRefused';
  }
}

/** The requests of a partner application to the identity provider. */
export type IdentityProvider = {
  /** Prepares the authorization request of a launch. @throws Error when discovery is unavailable */
  authorize(launch: string): Promise<Authorization>;
  /** @throws TokensRefused */
  exchangeCode(code: string, authorization: Authorization): Promise<Tokens>;
  /** @throws TokensRefused */
  refresh(refreshToken: string): Promise<Tokens>;
};

type Metadata = {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
};

type Options = Onboarding & {
  /** Returns the address at which this backend reaches a published one. */
  readonly reach: (address: string) => string;
  /** Milliseconds since 1970 */
  readonly now: () => number;
};

const timeoutMs = 10_000;

/**
 * Creates the client of one identity provider; its addresses come from its discovery document and are cached.
 */
export function createIdentityProvider(options: Options): IdentityProvider {
  const { issuer, clientId, redirectUri, scope, reach } = options;
  let discovered: Promise<Metadata> | undefined;
  const metadata = () => {
    discovered ??= discover(options);
    discovered.catch(() => {
      discovered = undefined;
    });
    return discovered;
  };
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;

  const verify = async (idToken: string, nonce: string | undefined): Promise<JWTPayload> => {
    keys ??= createRemoteJWKSet(new URL(reach((await metadata()).jwks_uri)));
    const { payload } = await jwtVerify(idToken, keys, {
      issuer,
      audience: clientId,
      clockTolerance: 10,
      currentDate: new Date(options.now()),
    });
    // OpenID Connect Core 1.0 section 3.1.3.7: the token must answer our own request.
    if (nonce !== undefined && payload.nonce !== nonce)
      throw new Error('The ID token answers another request');
    return payload;
  };

  const requestTokens = async (form: Readonly<Record<string, string>>, nonce?: string): Promise<Tokens> => {
    const response = await fetch(reach((await metadata()).token_endpoint), {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    const { access_token, refresh_token, id_token, expires_in } = answer;
    if (
      typeof access_token !== 'string' ||
      typeof refresh_token !== 'string' ||
      typeof id_token !== 'string' ||
      typeof expires_in !== 'number'
    ) {
      throw new TokensRefused(
        `${response.status} ${String(answer.error)}: ${String(answer.error_description)}`,
      );
    }
    const claims = await verify(id_token, nonce).catch((cause: unknown) => {
      throw new TokensRefused('The ID token cannot be trusted', { cause });
    });
    return { accessToken: access_token, refreshToken: refresh_token, claims, expiresInSeconds: expires_in };
  };

  return {
    async authorize(launch) {
      const { authorization_endpoint: endpoint } = await metadata();
      const { codeVerifier, codeChallenge } = createPkcePair();
      const [state, nonce] = [crypto.randomUUID(), crypto.randomUUID()];
      const fields = {
        client_id: clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        response_mode: 'query',
        scope,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
        state,
        nonce,
        launch,
      };
      return { state, nonce, codeVerifier, endpoint, fields };
    },
    exchangeCode: (code, { codeVerifier, nonce }) =>
      requestTokens(
        {
          grant_type: 'authorization_code',
          client_id: clientId,
          scope,
          code,
          redirect_uri: redirectUri,
          code_verifier: codeVerifier,
        },
        nonce,
      ),
    refresh: (refreshToken) =>
      requestTokens({
        grant_type: 'refresh_token',
        client_id: clientId,
        scope,
        refresh_token: refreshToken,
      }),
  };
}

/**
 * Fetches the discovery document (OpenID Connect Discovery 1.0 section 4). @throws Error when the document is
 * unavailable or belongs to another issuer
 */
async function discover({ issuer, reach }: Options): Promise<Metadata> {
  const response = await fetch(reach(`${issuer}/.well-known/openid-configuration`), {
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`The request for the discovery document was answered ${response.status}`);
  const metadata = (await response.json()) as Metadata;
  if (metadata.issuer !== issuer) throw new Error('The discovery document belongs to another issuer');
  return metadata;
}
