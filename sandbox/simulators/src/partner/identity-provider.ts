import * as openid from 'openid-client';

type Onboarding = {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
};

/**
 * A pending authorization request. The verifier stays in this backend, and the browser posts `fields` to
 * `endpoint`.
 */
export type Authorization = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly endpoint: string;
  readonly fields: Readonly<Record<string, string>>;
};

export type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;

type Options = Onboarding & {
  /** Returns the address that this backend calls in place of a published address. */
  readonly reach: (address: string) => string;
  readonly send: typeof fetch;
};

/**
 * Creates the client of one identity provider: OpenID Connect with PKCE and a launch identifier. The first
 * request reads the addresses of the endpoints from the discovery document. A method rejects with an error of
 * the library if the identity provider refuses, or if its answer cannot be trusted.
 */
export function createIdentityProvider({ issuer, clientId, redirectUri, scope, reach, send }: Options) {
  let discovered: Promise<openid.Configuration> | undefined;
  const discover = () => {
    discovered ??= openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
      [openid.customFetch]: (address, request) => send(reach(address), request as RequestInit),
      // Over HTTP, as in the demo, only the signature of an ID token proves who issued it.
      execute: issuer.startsWith('http:')
        ? [openid.enableNonRepudiationChecks, openid.allowInsecureRequests]
        : [openid.enableNonRepudiationChecks],
    });
    discovered.catch(() => {
      discovered = undefined;
    });
    return discovered;
  };

  return {
    /**
     * Prepares the authorization request of a launch. A form keeps the launch identifier out of addresses.
     */
    async authorize(launch: string): Promise<Authorization> {
      const [state, nonce, codeVerifier] = [
        openid.randomState(),
        openid.randomNonce(),
        openid.randomPKCECodeVerifier(),
      ];
      const { origin, pathname, searchParams } = openid.buildAuthorizationUrl(await discover(), {
        redirect_uri: redirectUri,
        response_mode: 'query',
        scope,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        launch,
      });
      const fields = Object.fromEntries(searchParams);
      return { state, nonce, codeVerifier, endpoint: origin + pathname, fields };
    },

    /**
     * Exchanges the code in the query of an authorization response. The library checks its `state` and `iss`
     * (RFC 9207).
     */
    async exchangeCode(query: URLSearchParams, begun: Authorization): Promise<Tokens> {
      const answer = new URL(`${redirectUri}?${query.toString()}`);
      const checks = {
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        pkceCodeVerifier: begun.codeVerifier,
        idTokenExpected: true,
      };
      return openid.authorizationCodeGrant(await discover(), answer, checks, { scope });
    },

    /** Exchanges a refresh token. The token is then used up, and the answer contains its successor. */
    async refresh(refreshToken: string): Promise<Tokens> {
      return openid.refreshTokenGrant(await discover(), refreshToken, { scope });
    },
  };
}
