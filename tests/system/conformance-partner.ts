import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as openid from 'openid-client';

type Begun = { readonly state: string; readonly issuer: string };
type Tokens = { access_token: string; refresh_token?: string; id_token?: string };
type Session = { readonly sid: string; readonly first: string; tokens: Tokens };

/** What a partner application does. Each member can be replaced to make the partner wrong. */
const right = {
  newState: openid.randomState,
  newVerifier: openid.randomPKCECodeVerifier,
  /** Returns the authorization response that the library checks: by default, the received response. */
  answerFor: (answer: URL, _begun: Begun) => answer,
  /** Returns true if a token answer is used in spite of the library's error. */
  isIgnored: (_error: Error) => false,
  checksHash: true,
  checksLaunchIssuer: true,
  /** Returns true if the keys of an earlier launch may be used. */
  storesKeys: false,
  pushes: false,
  launchesTwice: false,
  exchangesTwice: false,
  tokenToRefresh: ({ tokens }: Session) => tokens.refresh_token ?? '',
  maxRefreshes: 1,
  waitsAfter: (_status: number) => true,
  resource: (_patient: Readonly<Record<string, string>>) => '/resource/patient',
  acceptsForgery: false,
  endsSessions: true,
};

export type Behaviour = typeof right;

type Registration = { readonly baseUrl: string; readonly clientId: string; readonly redirectUri: string };
export type TestPartner = ReturnType<typeof createTestPartner>;

/**
 * Creates a partner application on openid-client that opens launch URLs itself, as its user's browser would.
 */
export function createTestPartner(
  { baseUrl, clientId, redirectUri }: Registration,
  wrong: Partial<Behaviour> = {},
) {
  const does: Behaviour = { ...right, ...wrong };
  const issuer = `${baseUrl}/idp/demo/desktop/v2.0`;
  const scope = 'openid offline_access launch resource.read';
  const sessions = new Map<string, Session>();
  let patient: Readonly<Record<string, string>> = {};
  let answered: Tokens = { access_token: '' };
  let discovered: Promise<openid.Configuration> | undefined;

  const discover = () =>
    openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
      execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
      async [openid.customFetch](url, options) {
        const response = await fetch(url, options as RequestInit);
        if (url.endsWith('/token')) answered = JSON.parse(await response.clone().text());
        return response;
      },
    });
  // Without stored keys, each launch fetches the keys again, as a partner does when its cache has expired.
  const configure = () => {
    discovered = does.storesKeys ? (discovered ?? discover()) : discover();
    return discovered;
  };

  const authorize = async (launch: string, begun: Begun, verifier: string, config: openid.Configuration) => {
    const parameters = {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: begun.state,
      launch,
    };
    const address = does.pushes
      ? await openid.buildAuthorizationUrlWithPAR(config, parameters)
      : openid.buildAuthorizationUrl(config, parameters);
    const response = await fetch(address, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`The authorization was answered ${response.status}`);
    return new URL(location);
  };

  const exchange = async (config: openid.Configuration, answer: URL, state: string, verifier: string) => {
    const grant = () =>
      openid.authorizationCodeGrant(config, answer, {
        expectedState: state,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
    try {
      return await grant();
    } catch (error) {
      if (does.exchangesTwice && error instanceof openid.ResponseBodyError) return await grant();
      if (!(error instanceof Error) || !does.isIgnored(error)) throw error;
      return answered;
    }
  };

  const refresh = async (session: Session) => {
    session.tokens = await openid.refreshTokenGrant(await configure(), does.tokenToRefresh(session));
  };

  const get = (session: Session) =>
    fetch(baseUrl + does.resource(patient), {
      headers: { Authorization: `Bearer ${session.tokens.access_token}` },
    });

  const read = async (session: Session) => {
    let response = await get(session);
    if (response.status === 429 || response.status === 503) {
      const seconds = Number(response.headers.get('retry-after'));
      if (does.waitsAfter(response.status)) await pause(seconds * 1000);
      response = await get(session);
    }
    for (let left = does.maxRefreshes; response.status === 401 && left > 0; left -= 1) {
      await refresh(session);
      response = await get(session);
    }
    if (response.status !== 200) throw new Error(`The resource was answered ${response.status}`);
    patient = JSON.parse(await response.text());
  };

  return {
    /** Handles a launch: signs in, and reads the patient. @throws Error if something is refused */
    async open(launchUrl: string): Promise<Session> {
      const query = new URL(launchUrl).searchParams;
      if (does.checksLaunchIssuer && query.get('iss') !== issuer)
        throw new Error('The issuer is not the registered issuer');
      const launch = query.get('launch') ?? '';
      const config = await configure();
      const begun = { state: does.newState(), issuer };
      const verifier = does.newVerifier();
      const answer = await authorize(launch, begun, verifier, config);
      const tokens: Tokens = await exchange(config, does.answerFor(answer, begun), begun.state, verifier);
      const claims = JSON.parse(Buffer.from(tokens.id_token?.split('.')[1] ?? '', 'base64url').toString());
      const hash = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16);
      if (does.checksHash && claims.at_hash !== hash.toString('base64url'))
        throw new Error('at_hash does not match the access token');
      const session = { sid: claims.sid, first: tokens.refresh_token ?? '', tokens };
      sessions.set(claims.sid, session);
      await read(session);
      if (does.launchesTwice) await authorize(launch, begun, verifier, config).catch(() => undefined);
      return session;
    },

    async refreshTwice(session: Session): Promise<void> {
      for (let times = 0; times < 2; times += 1) {
        await refresh(session);
        await read(session);
      }
    },

    /** Reads the patient in each session that has not ended. Ends the sessions whose tokens are refused. */
    async readAgain(): Promise<void> {
      for (const session of sessions.values()) await read(session).catch(() => sessions.delete(session.sid));
    },

    /** Handles a logout token. Returns the status of the answer. */
    async logOut(logoutToken: string): Promise<number> {
      const keys = createRemoteJWKSet(new URL(`${baseUrl}/idp/demo/desktop/discovery/v2.0/keys`));
      try {
        const { payload } = await jwtVerify(logoutToken, keys, {
          issuer,
          audience: clientId,
          typ: 'logout+jwt',
        });
        if (does.endsSessions) sessions.delete(String(payload['sid']));
        return 200;
      } catch {
        return does.acceptsForgery ? 200 : 400;
      }
    },
  };
}
