import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { aServiceRequest, type ServiceRequestParts } from '@clinical-launch/testing/service-request';
import { guidOf, openLaunch, orderIn, type PlatformAddress, requestLaunch } from './audit-launches.ts';
import type { MovedClock } from './moved-clock.ts';

/** The platform and clock for the prepared requests. */
export type Stage = { readonly platform: PlatformAddress; readonly clock: MovedClock };

/** A request that is refused or fails, and the cause that the audit pages show. */
export type PreparedRefusal = {
  /** Sends the request, and returns the correlation id of the answer. */
  readonly send: (stage: Stage, username: string) => Promise<string>;
  /** The type of its audit event. */
  readonly type: string;
  /** A part of the cause, as the pages show it. */
  readonly cause: string | RegExp;
};

const payloadOf = (username: string, parts: ServiceRequestParts = {}) =>
  aServiceRequest({
    author: {
      identifier: [{ system: 'https://fhir.clinical-launch.example/Id/username', value: username }],
    },
    ...parts,
  });

const request =
  (parts: ServiceRequestParts, headers: Readonly<Record<string, string>> = {}): PreparedRefusal['send'] =>
  async ({ platform }, username) =>
    (await requestLaunch(platform, { payload: payloadOf(username, parts), headers })).guid;

const refusedLaunch = { type: 'launch.url.refused.v1', cause: 'details of the launch that are not valid' };
const refusedOpening = 'launch.token.refused.v1';

async function used({ platform }: Stage, username: string): Promise<string> {
  const { url, codeVerifier } = await requestLaunch(platform, { payload: payloadOf(username) });
  await openLaunch(url, codeVerifier);
  return guidOf(await openLaunch(url, codeVerifier));
}

async function mismatched({ platform }: Stage, username: string): Promise<string> {
  const { url } = await requestLaunch(platform, { payload: payloadOf(username) });
  return guidOf(await openLaunch(url, 'v'.repeat(43)));
}

async function late({ platform, clock }: Stage, username: string): Promise<string> {
  const { url, codeVerifier } = await requestLaunch(platform, { payload: payloadOf(username) });
  clock.advance({ seconds: 14 });
  return guidOf(await openLaunch(url, codeVerifier));
}

async function usedIdentifier({ platform }: Stage, username: string): Promise<string> {
  const payload = payloadOf(username);
  await requestLaunch(platform, { payload });
  return (await requestLaunch(platform, { payload })).guid;
}

async function undelivered({ platform }: Stage, username: string): Promise<string> {
  const { guid, url, codeVerifier } = await requestLaunch(platform, { payload: payloadOf(username) });
  await orderIn(url, codeVerifier);
  return guid;
}

/**
 * Requests of a known user at a practice. The audit pages also find these requests by practice, user and
 * time.
 */
export const ofUsers: Readonly<Record<string, PreparedRefusal>> = {
  'a date that does not exist': {
    send: request({ patient: { birthDate: '1958-02-30' } }),
    ...refusedLaunch,
  },
  'an unknown gender': { send: request({ patient: { gender: 'none' } }), ...refusedLaunch },
  'a missing name of the patient': { send: request({ patient: { name: [] } }), ...refusedLaunch },
  'a missing time of the request': {
    send: request({ request: { authoredOn: undefined } }),
    ...refusedLaunch,
  },
  'a missing code challenge': { send: request({}, { 'Code-Challenge': '' }), ...refusedLaunch },
  'an identifier that was used before': {
    send: usedIdentifier,
    type: 'launch.url.refused.v1',
    cause: 'used the identifier of this launch before',
  },
  'a launch opened twice': {
    send: used,
    type: refusedOpening,
    cause: 'had already been opened',
  },
  'a launch with another verifier': {
    send: mismatched,
    type: refusedOpening,
    cause: 'code verifier that does not belong to it',
  },
  'a document that the receiver does not accept': {
    send: undelivered,
    type: 'order.document.delivery.failed.v1',
    cause: 'could not be reached',
  },
  'an invalid payload sent to Validate': {
    send: async ({ platform }, username) => {
      const payload = payloadOf(username, { patient: { birthDate: 'today' } });
      return (await requestLaunch(platform, { payload, path: '/AccessApi/Validate' })).guid;
    },
    type: 'launch.url.refused.v1',
    cause: 'details of the launch that are not valid',
  },
  'a launch opened too late': {
    send: late,
    type: refusedOpening,
    // The list of events shows the reason in the event. The page of the launch also shows how late the
    // browser opened the launch.
    cause: /opened too late|the browser opened it after 14 seconds/,
  },
};

const withToken =
  (token: (platform: PlatformAddress) => Promise<string> | string, path?: string): PreparedRefusal['send'] =>
  async ({ platform }) =>
    (await requestLaunch(platform, { token: await token(platform), ...withoutUndefined({ path }) })).guid;

const sent =
  (path: string, init: RequestInit = {}): PreparedRefusal['send'] =>
  async ({ platform }) =>
    guidOf(await fetch(platform.url + path, init));

const form = (
  fields: Record<string, string> | readonly [string, string][],
  headers: Record<string, string> = {},
) => ({
  method: 'POST',
  headers,
  body: new URLSearchParams(fields),
});

const tokenPath = '/idp/demo/oauth2/v2.0/token';
const desktop = '/idp/demo/desktop';
const scope = 'api://clinical-launch/.default';
const grant = { grant_type: 'client_credentials', scope };
const pms = { client_id: 'pms-demo', client_secret: 'pms-demo-secret' };
const basic = `Basic ${Buffer.from('pms-demo:pms-demo-secret').toString('base64')}`;
const refusedToken = 'access.token.refused.v1';
const partner = { client_id: 'partner-demo' };
const openPath = '/secureLaunch?launchToken=';
const unknownToken = `${'0'.repeat(8)}.${'a'.repeat(43)}`;

/** Requests without a known user. */
export const ofSystems: Readonly<Record<string, PreparedRefusal>> = {
  'a body that is not JSON': {
    send: async ({ platform }) => (await requestLaunch(platform, { payload: '{' })).guid,
    type: 'launch.url.refused.v1',
    cause: 'could not be read',
  },
  'another media type': {
    send: request({}, { 'Content-Type': 'text/plain' }),
    type: 'launch.url.refused.v1',
    cause: 'not in the format',
  },
  'a body that is too large': {
    send: async ({ platform }) =>
      (await requestLaunch(platform, { payload: `"${'x'.repeat(300_000)}"` })).guid,
    type: 'launch.url.refused.v1',
    cause: 'too large',
  },
  'an unknown access token': {
    send: withToken(() => 'none'),
    type: 'launch.url.refused.v1',
    cause: 'access token was missing, expired, revoked',
  },
  'a token without the required right': {
    send: withToken((platform) => platform.tokenOf('pms-noscope')),
    type: 'launch.url.refused.v1',
    cause: 'does not have the right',
  },
  'a request to Validate without the required right': {
    send: withToken((platform) => platform.tokenOf('host-demo'), '/AccessApi/Validate'),
    type: 'launch.url.refused.v1',
    cause: 'does not have the right',
  },
  'an unknown launch token': {
    send: sent(`${openPath}${unknownToken}&codeVerifier=${'v'.repeat(43)}`),
    type: refusedOpening,
    cause: 'opened too late, or with a token that does not exist',
  },
  'a launch without its verifier': {
    send: sent(openPath + unknownToken),
    type: refusedOpening,
    cause: 'launch address was not complete',
  },
  'a launch that the browser prefetches': {
    send: sent(`${openPath}${unknownToken}&codeVerifier=${'v'.repeat(43)}`, {
      headers: { 'Sec-Purpose': 'prefetch' },
    }),
    type: refusedOpening,
    cause: 'before the user opened it',
  },
  'a launch posted as JSON': {
    send: sent('/secureLaunch', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    }),
    type: refusedOpening,
    cause: 'could not be read',
  },
  'a wrong client secret': {
    send: sent(tokenPath, form({ ...grant, ...pms, client_secret: 'wrong' })),
    type: refusedToken,
    cause: 'secret of the application is wrong',
  },
  'an unknown client': {
    send: sent(tokenPath, form({ ...grant, ...pms, client_id: 'nobody' })),
    type: refusedToken,
    cause: 'client id is not registered',
  },
  'missing client credentials': {
    send: sent(tokenPath, form({ ...grant })),
    type: refusedToken,
    cause: 'sent no credentials',
  },
  'two kinds of client credentials': {
    send: sent(tokenPath, form({ ...grant, ...pms }, { Authorization: basic })),
    type: refusedToken,
    cause: 'two kinds of credentials',
  },
  'malformed client credentials': {
    send: sent(tokenPath, form({ ...grant }, { Authorization: 'Basic !' })),
    type: refusedToken,
    cause: 'credentials of the application could not be read',
  },
  'an unknown scope': {
    send: sent(tokenPath, form({ ...grant, ...pms, scope: 'everything' })),
    type: refusedToken,
    cause: 'by a name that does not exist',
  },
  'an unsupported grant type': {
    send: sent(tokenPath, form({ ...grant, ...pms, grant_type: 'password' })),
    type: refusedToken,
    cause: 'in a way that is not offered',
  },
  'a repeated parameter': {
    send: sent(tokenPath, form([...Object.entries({ ...grant, ...pms }), ['scope', scope]])),
    type: refusedToken,
    cause: 'had a parameter twice',
  },
  'a token request that is not a form': {
    send: sent(tokenPath, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    }),
    type: refusedToken,
    cause: 'was not a form',
  },
  'a code exchange without a scope': {
    send: sent(
      `${desktop}/oauth2/v2.0/token`,
      form({
        ...partner,
        grant_type: 'authorization_code',
        code: 'none',
        code_verifier: 'v'.repeat(43),
        redirect_uri: 'https://partner.example/callback',
      }),
    ),
    type: refusedToken,
    cause: 'A parameter of the token request was missing',
  },
  'an unknown code': {
    send: sent(
      `${desktop}/oauth2/v2.0/token`,
      form({
        ...partner,
        scope: 'launch',
        grant_type: 'authorization_code',
        code: 'none',
        code_verifier: 'v'.repeat(43),
        redirect_uri: 'https://partner.example/callback',
      }),
    ),
    type: refusedToken,
    cause: 'code is unknown or has expired',
  },
  'an unknown refresh token': {
    send: sent(
      `${desktop}/oauth2/v2.0/token`,
      form({ ...partner, grant_type: 'refresh_token', refresh_token: 'none' }),
    ),
    type: refusedToken,
    cause: 'session of the application had ended',
  },
  'a desktop launch without the required right': {
    send: withToken((platform) => platform.tokenOf('pms-demo'), `${desktop}/launches`),
    type: 'desktop.launch.refused.v1',
    cause: 'does not have the right',
  },
  'an invalid desktop launch': {
    send: withToken((platform) => platform.tokenOf('host-demo'), `${desktop}/launches`),
    type: 'desktop.launch.refused.v1',
    cause: 'not complete, or could not be read',
  },
  'an authorization request without parameters': {
    send: sent(`${desktop}/oauth2/v2.0/authorize?client_id=partner-demo`),
    type: 'desktop.launch.refused.v1',
    cause: 'parameters that are not valid',
  },
  'a resource request without a token': {
    send: sent('/resource/patient'),
    type: 'resource.refused.v1',
    cause: 'access token was missing',
  },
};
