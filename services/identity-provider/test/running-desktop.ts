import { createHash, randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { aClient, record, runIdentityProvider } from './running-identity-provider.ts';

export const realm = 'north/desktop';
export const redirectUri = 'https://partner.example/auth?tenant=7';

/** Returns a registered partner application. */
export function aPartner(overrides: Record<string, unknown> = {}) {
  return {
    clientId: 'partner',
    name: 'Partner',
    redirectUris: [redirectUri],
    launchUrl: 'https://partner.example/launch',
    scopes: ['openid', 'profile', 'email', 'offline_access', 'launch', 'resource.read'],
    ...overrides,
  };
}

/** Returns a realm of host applications and desktop realms of partner applications. */
export function desktopRealms(overrides: Record<string, unknown> = {}) {
  const partners = [
    aPartner(),
    aPartner({ clientId: 'partner-standard', profile: 'standard' }),
    aPartner({
      clientId: 'partner-native',
      profile: 'standard',
      redirectUris: [
        'partnerapp://auth',
        'http://127.0.0.1/callback',
        'http://localhost:3000/callback',
        'http://[::1]:4000/callback?a=1',
      ],
      launchUrl: 'partnerapp://launch',
    }),
  ];
  return [
    {
      realm: 'north',
      clients: [
        aClient({ clientId: 'host', scopes: ['launch.issue'] }),
        aClient({ clientId: 'neighbour', scopes: ['launch.issue'] }),
        aClient({ clientId: 'resource-server', scopes: ['token.introspect'] }),
        aClient(),
      ],
    },
    { realm, clients: [], desktop: { partners }, ...overrides },
    { realm: 'south/desktop', clients: [], desktop: { partners: [aPartner()], sendsIssuer: false } },
  ];
}

/** Returns the body of a valid launch request. Its names contain non-ASCII characters. */
export function aLaunch(overrides: Record<string, unknown> = {}) {
  return {
    client_id: 'partner',
    user: {
      userERN: 'ern:user:4711',
      email: 'sian@surgery.example',
      title: 'Dr',
      firstName: 'Siân',
      familyName: 'Ó Súilleabháin',
    },
    organisation: { orgERN: 'ern:org:12', orgName: 'Meddygfa Tŷ Bach 🌸', cdb: '10001', ods: 'W92001' },
    authorizations: ['clinical-cr.read', 'doc-app.addcode'],
    patient: aPatient(),
    ...overrides,
  };
}

export function aPatient(overrides: Record<string, unknown> = {}) {
  return {
    title: 'Mrs',
    forenames: 'Gwenllïan Aoife',
    surname: 'Ní Bhriain',
    gender: 'Female',
    dob: '29-Feb-1960',
    'patient-identifiers': [
      { identifierType: 'GUID', identifierValue: 'd3b07384-d9a0-4c9b-8f2e-000000000001' },
      { identifierType: 'EHR Partner ID', identifierValue: '90210' },
      { identifierType: 'NHS Number', identifierValue: '9434765919' },
    ],
    'address-details': [{ addressLine1: '' }],
    'contact-details': [],
    ...overrides,
  };
}

export type Fields = Record<string, string>;

/** Returns a code verifier and its challenge, as a partner application creates them. */
export function aVerifier() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

type RunOptions = Omit<Parameters<typeof runIdentityProvider>[0], 'realms'> & {
  readonly realms?: readonly Record<string, unknown>[];
};

/**
 * Starts the identity provider with desktop realms. Returns methods that act as a host application and as a
 * partner application.
 */
export async function runDesktop({ realms = desktopRealms(), ...options }: RunOptions) {
  const running = await runIdentityProvider({ realms, ...options });
  const { idp } = running;
  const hostToken = async (clientId = 'host') =>
    String((await idp.token('north', { client_id: clientId })).access_token);

  const postLaunch = async (body: unknown, { at = realm, token }: { at?: string; token?: string } = {}) =>
    idp.get(`/${at}/launches`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token ?? (await hostToken())}`,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const launchFor = async (overrides: Record<string, unknown> = {}, at = realm): Promise<string> => {
    const response = await postLaunch(aLaunch(overrides), { at });
    if (response.status !== 201) throw new Error(`launches: ${response.status} ${await response.text()}`);
    return String(record(await response.json()).launch);
  };
  const postAuthorize = (fields: Fields | [string, string][], at = realm, headers: Fields = {}) =>
    fetch(`${idp.base}/${at}/oauth2/v2.0/authorize`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
      headers,
    });
  const getAuthorize = (query: string, at = realm, headers: Fields = {}) =>
    fetch(`${idp.base}/${at}/oauth2/v2.0/authorize?${query}`, { redirect: 'manual', headers });
  const postToken = (fields: Fields | [string, string][], at = realm, headers: Fields = {}) =>
    idp.postForm(`/${at}/oauth2/v2.0/token`, fields, headers);

  /**
   * Starts a launch, unless `launch` is given, and requests its authorization. Returns the fields of the next
   * token request.
   */
  const codeFor = async (
    asked: Fields = {},
    { at = realm, launch }: { at?: string; launch?: string } = {},
  ) => {
    const { verifier, challenge } = aVerifier();
    const clientId = asked.client_id ?? 'partner';
    const identifier = launch ?? (await launchFor({ client_id: clientId }, at));
    const fields = { ...authorizeFields({ launch: identifier, challenge }), ...asked };
    const response = await postAuthorize(fields, at);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`authorize: ${response.status} ${await response.text()}`);
    const code = new URL(location).searchParams.get('code') ?? '';
    return tokenFields({ code, verifier, client_id: clientId, redirect_uri: fields.redirect_uri });
  };
  const tokensFor = async (asked: Fields = {}, at = realm): Promise<Tokens> => {
    const response = await postToken(await codeFor(asked, { at }), at);
    if (response.status !== 200) throw new Error(`token: ${response.status} ${await response.text()}`);
    return tokensOf(await response.json());
  };
  const refresh = (refreshToken: string, fields: Fields = {}, at = realm) =>
    postToken({ grant_type: 'refresh_token', refresh_token: refreshToken, ...fields }, at);
  const introspect = async (token: string, at = realm) => {
    const authorization = `Bearer ${await hostToken('resource-server')}`;
    const response = await idp.postForm(`/${at}/oauth2/v2.0/introspect`, { token }, { authorization });
    return record(await response.json());
  };
  return {
    ...running,
    hostToken,
    postLaunch,
    launchFor,
    postAuthorize,
    getAuthorize,
    postToken,
    codeFor,
    tokensFor,
    refresh,
    introspect,
    /** Returns whether an access token is still active. */
    isActive: async (token: string) => (await introspect(token)).active,
    eventsOf: (correlationId: string) =>
      running.published.filter(({ correlationid }) => correlationid === correlationId),
  };
}

export type RunningDesktop = Awaited<ReturnType<typeof runDesktop>>;

/** Returns the fields of a valid authorization request (Desktop: Authorization request form fields). */
export function authorizeFields({ launch, challenge }: { launch: string; challenge: string }) {
  return {
    client_id: 'partner',
    response_type: 'code',
    redirect_uri: redirectUri,
    response_mode: 'query',
    scope: 'openid launch resource.read',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'a state',
    launch,
  };
}

/** Returns the fields of a valid token request (Desktop: Token request form fields). */
export function tokenFields({
  code,
  verifier,
  ...overrides
}: {
  code: string;
  verifier: string;
  client_id?: string;
  redirect_uri?: string;
}) {
  return {
    grant_type: 'authorization_code',
    client_id: 'partner',
    scope: 'openid launch resource.read',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...overrides,
  };
}

export type Tokens = {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
};

export function tokensOf(answer: unknown): Tokens {
  const { access_token, refresh_token, id_token } = record(answer);
  return {
    accessToken: String(access_token),
    refreshToken: String(refresh_token),
    idToken: String(id_token),
  };
}

/** Returns the GUID of a launch, which is also its correlation id. */
export function chainOf({ accessToken }: Tokens): string {
  return String(decodeJwt(accessToken).sid);
}

/**
 * Returns a refusal of the token or authorization endpoint without its message. `isFiled` is true if the body
 * contains the correlation id of the header.
 */
export async function refusalOf(response: Response) {
  const { error, correlation_id } = record(await response.json());
  return {
    status: response.status,
    error,
    isFiled: correlation_id === response.headers.get('x-correlation-id') && correlation_id !== null,
    location: response.headers.get('location'),
  };
}

export const refused = (error: string, status = 400) => ({ status, error, isFiled: true, location: null });
