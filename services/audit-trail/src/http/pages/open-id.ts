import { memberOf, withoutUndefined } from '@clinical-launch/contracts/schema';
import { temporarilyUnavailable } from '@clinical-launch/http/errors';
import { asResponse, createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { ClientAuth, Configuration } from 'openid-client';
import type { AuditPagesConfig } from '../../pages-config.ts';
import { signInFailed } from './errors.ts';
import type { BegunSignIn, Staff } from './session.ts';

const requiredRight = 'audit.read';
/** The maximum number of characters of a text from the issuer that an event contains. */
const maxLength = 200;

type OpenIdConfig = Omit<AuditPagesConfig, 'sealer' | 'timeZone' | 'supportLine'>;

export type OpenId = ReturnType<typeof createOpenId>;

/**
 * Creates the client of the issuer: OpenID Connect Core 1.0, authorization code flow with PKCE (RFC 7636),
 * `state` and `nonce`. Loads the library and discovers the issuer at the first sign-in, so that the service
 * starts without the issuer. Stores no token.
 */
export function createOpenId(config: OpenIdConfig) {
  const { publicUrl, clientId, rightClaim } = config;
  const redirectUri = `${publicUrl}/audit/callback`;
  const load = () => import('openid-client');
  const discover = createDiscovery(config);

  return {
    /** Starts a sign-in. Returns the state to remember, and the address for the browser. */
    async begin(returnTo: string): Promise<{ signIn: BegunSignIn; address: string }> {
      const [library, issuer] = await Promise.all([load(), discover()]);
      const codeVerifier = library.randomPKCECodeVerifier();
      const [state, nonce] = [library.randomState(), library.randomNonce()];
      const address = library.buildAuthorizationUrl(issuer, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
      return { signIn: { state, nonce, codeVerifier, returnTo }, address: address.href };
    },
    /** Completes a sign-in with the query of the issuer's answer. @throws ServiceError 400 or 503 */
    async complete(query: URLSearchParams, begun: readonly BegunSignIn[]) {
      const signIn = begun.find(({ state }) => state === query.get('state'));
      if (signIn === undefined) throw signInFailed(new Error('this browser did not start the sign-in'));
      const [library, issuer] = await Promise.all([load(), discover()]);
      const { state: expectedState, nonce: expectedNonce, codeVerifier: pkceCodeVerifier } = signIn;
      const tokens = await library
        .authorizationCodeGrant(issuer, new URL(`${redirectUri}?${query.toString()}`), {
          expectedState,
          expectedNonce,
          pkceCodeVerifier,
          idTokenExpected: true,
        })
        .catch((cause: unknown) => {
          throw signInFailed(cause);
        });
      const claims = tokens.claims();
      if (claims === undefined) throw signInFailed(new Error('the issuer sent no ID token'));
      // Some issuers return rights and names only from the UserInfo endpoint.
      const isComplete = rightClaim in claims && 'name' in claims;
      const more =
        isComplete || issuer.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await library.fetchUserInfo(issuer, tokens.access_token, claims.sub).catch((cause: unknown) => {
              throw signInFailed(cause);
            });
      return { staff: staffOf({ ...more, ...claims }, rightClaim), returnTo: signIn.returnTo };
    },
    /** Returns the issuer's address for ending its session, or undefined if the issuer has no such address. */
    async signOutAddress(): Promise<string | undefined> {
      const [library, issuer] = await Promise.all([load(), discover()]);
      if (issuer.serverMetadata().end_session_endpoint === undefined) return undefined;
      return library.buildEndSessionUrl(issuer, {
        client_id: clientId,
        post_logout_redirect_uri: `${publicUrl}/audit/signed-out`,
      }).href;
    },
  };
}

/**
 * Returns what the log says about a failed sign-in: the failed check, and the issuer's `error`. Omits the
 * description and the claims, which may name the person.
 */
export function describeFailure(cause: unknown): object {
  if (!(cause instanceof Error)) return {};
  // The cause of the library's error names the claim that was not accepted.
  const { message: reason } = cause.cause instanceof Error ? cause.cause : cause;
  const text = (name: string) => {
    const value = memberOf(cause, name);
    return isText(value) ? value.slice(0, maxLength) : undefined;
  };
  return withoutUndefined({ reason, issuerError: text('error'), check: text('code') });
}

/**
 * Returns a function that discovers the issuer. Caches the first successful discovery, and retries after a
 * failure.
 */
function createDiscovery(config: OpenIdConfig): () => Promise<Configuration> {
  const { issuer, clientId, clientSecret, publicUrl, platformUrl } = config;
  const fetchOutbound = createOutboundFetch({ allowedNetworks: config.allowedNetworks });
  /**
   * Fetches addresses below `PUBLIC_URL` through `PLATFORM_URL`, because the process reaches the platform
   * within the deployment.
   */
  const fetchOfIssuer = async (address: string, request: FetchRequest): Promise<Response> => {
    const isOurs = address.startsWith(`${publicUrl}/`);
    const url = new URL(isOurs ? platformUrl + address.slice(publicUrl.length) : address);
    const { method, body } = request;
    return asJson(
      await fetchOutbound(url, {
        method: method === 'POST' ? 'POST' : 'GET',
        headers: Object.fromEntries(new Headers(request.headers)),
        ...(body instanceof URLSearchParams ? { body: body.toString() } : {}),
        isOperators: isOurs,
      }),
    );
  };
  let discovered: Promise<Configuration> | undefined;
  return async () => {
    const library = await import('openid-client');
    // An issuer that names no methods supports Basic (OpenID Connect Discovery 1.0 section 3).
    const sendSecret: ClientAuth = (server, ...request) => {
      const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
      const send = isPost ? library.ClientSecretPost : library.ClientSecretBasic;
      return send(clientSecret)(server, ...request);
    };
    discovered ??= library.discovery(
      new URL(issuer),
      clientId,
      {},
      clientSecret === undefined ? library.None() : sendSecret,
      {
        [library.customFetch]: fetchOfIssuer,
        execute: [
          // Verifies the signature of the ID token. Without it, the library trusts the TLS connection alone.
          library.enableNonRepudiationChecks,
          // Allows an http issuer, which the configuration rejects in production.
          ...(issuer.startsWith('http:') ? [library.allowInsecureRequests] : []),
        ],
      },
    );
    try {
      return await discovered;
    } catch (cause) {
      discovered = undefined;
      throw temporarilyUnavailable('The sign-in service is not available', { cause });
    }
  };
}

type FetchRequest = {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
};

function asJson(answer: Parameters<typeof asResponse>[0]): Response {
  const response = asResponse(answer);
  const type = answer.headers['content-type'];
  if (type !== undefined) response.headers.set('content-type', type);
  return response;
}

type Claims = { readonly sub: string } & Readonly<Record<string, unknown>>;

function staffOf(claims: Claims, rightClaim: string): Staff {
  const [username = claims.sub] = [claims['preferred_username'], claims['email']].filter(isText);
  const { name } = claims;
  return {
    subject: claims.sub,
    username: username.slice(0, maxLength),
    name: (isText(name) ? name : username).slice(0, maxLength),
    mayRead: hasRight(claims[rightClaim]),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Returns whether a claim contains the right. A claim is an array or a space-separated list of rights. */
function hasRight(claim: unknown): boolean {
  if (typeof claim === 'string') return claim.split(' ').includes(requiredRight);
  return Array.isArray(claim) && claim.includes(requiredRight);
}
