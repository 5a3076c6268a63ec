import { createPkcePair } from '@clinical-launch/pms-client';
import { decodeJwt } from 'jose';
import { launchBody } from '../host/desktop-launch.ts';
import { getPatient, type Patient } from '../records.ts';
import {
  expect,
  expectStory,
  fetchToken,
  type PlayedPlatform,
  printHeading,
  printStep,
  reachedAt,
} from './steps.ts';

const clientId = 'partner-demo';
const scope = 'openid profile email offline_access launch resource.read';

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/**
 * Plays one desktop launch, as the host application, the user's browser and the partner application would,
 * step by step.
 * @param patient by default, the first patient of the invented practice
 * @throws Error at the first step that fails
 */
export async function playDesktopLaunch(played: PlayedPlatform, patient = getPatient(null)): Promise<void> {
  printHeading('A desktop launch: host, browser, partner application and resource API');
  const { baseUrl } = played;
  const at = reachedAt(played);
  const { launchUrl, correlationId } = await requestLaunch(played, patient);
  printStep('the host application has a launch identifier', `correlation id ${correlationId}`);

  // The parameters that the launch handler of the partner application receives.
  const query = new URL(launchUrl).searchParams;
  const [issuer, launch] = [textOf(query.get('iss'), 'iss'), textOf(query.get('launch'), 'launch')];
  const discovery = await ask(at(`${issuer}/.well-known/openid-configuration`));
  expect(discovery.body.issuer === issuer, 'the partner application discovers the issuer that it was given');
  const authorizationEndpoint = at(textOf(discovery.body.authorization_endpoint, 'authorization_endpoint'));
  const tokenEndpoint = at(textOf(discovery.body.token_endpoint, 'token_endpoint'));

  const { codeVerifier, codeChallenge } = createPkcePair();
  const state = crypto.randomUUID();
  const redirectUri = `${new URL(issuer).origin}/demo/partner/callback`;
  const authorize = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    response_mode: 'query',
    scope,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    state,
    launch,
  });
  const pushName = 'pushed_authorization_request_endpoint';
  const pushEndpoint = at(textOf(discovery.body[pushName], pushName));
  const pushed = await post(pushEndpoint, authorize);
  const { request_uri: requestUri } = (await pushed.json()) as { request_uri?: string };
  expect(pushed.status === 201, 'the authorization request is pushed (RFC 9126)');
  const reference = { client_id: clientId, request_uri: textOf(requestUri, 'request_uri') };
  const redirect = await post(authorizationEndpoint, new URLSearchParams(reference));
  const location = new URL(textOf(redirect.headers.get('location'), 'Location'));
  expect(
    location.href.startsWith(redirectUri) && location.searchParams.get('state') === state,
    'authorize redirects to the registered address with the state unchanged',
  );
  expect(location.searchParams.get('iss') === issuer, 'the answer names its issuer (RFC 9207)');
  const again = await post(authorizationEndpoint, authorize);
  expect(
    again.status === 400 && !again.headers.has('location'),
    'the launch identifier gives no second code: 400, no redirect',
  );

  const exchange = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    scope,
    code: textOf(location.searchParams.get('code'), 'code'),
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  });
  const tokens = await ask(tokenEndpoint, { method: 'POST', body: exchange });
  const claims = decodeJwt(textOf(tokens.body.id_token, 'id_token'));
  printStep('the ID token carries the context', JSON.stringify(contextOf(claims)));
  const accessToken = textOf(tokens.body.access_token, 'access_token');
  await readResource(baseUrl, '/resource/me', accessToken);
  await readResource(baseUrl, '/resource/patient', accessToken);

  const refresh = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    scope,
    refresh_token: textOf(tokens.body.refresh_token, 'refresh_token'),
  });
  const refreshed = await ask(tokenEndpoint, { method: 'POST', body: refresh });
  expect(
    refreshed.body.refresh_token !== tokens.body.refresh_token,
    'a refresh gives new tokens and another refresh token',
  );
  await readResource(baseUrl, '/resource/me', textOf(refreshed.body.access_token, 'access_token'));
  const ended = await fetch(`${baseUrl}/idp/demo/desktop/launches/${correlationId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${await fetchToken(played, 'host-demo')}` },
  });
  expect(ended.status === 204, 'the host ends the launch');
  const late = await post(tokenEndpoint, refresh);
  expect(late.status === 400, 'a refresh is refused then');
  await expectStory(played, correlationId, [
    'desktop.launch.issued.v1',
    'desktop.code.issued.v1',
    'desktop.tokens.issued.v1',
    'resource.read.v1',
    'desktop.chain.revoked.v1',
  ]);
}

async function requestLaunch(played: PlayedPlatform, patient: Patient) {
  const response = await fetch(`${played.baseUrl}/idp/demo/desktop/launches`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await fetchToken(played, 'host-demo')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(
      launchBody({
        clientId,
        patient,
        authorizations: ['agmt-agmt.read', 'clinical-cr.read'],
      }),
    ),
  });
  const { launchUrl } = (await response.json()) as { launchUrl?: string };
  if (response.status !== 201) throw new Error(`No launch identifier (${response.status})`);
  const correlationId = textOf(response.headers.get('x-correlation-id'), 'X-Correlation-Id');
  return { launchUrl: textOf(launchUrl, 'launchUrl'), correlationId };
}

async function readResource(baseUrl: string, path: string, accessToken: string): Promise<void> {
  const { body } = await ask(baseUrl + path, { headers: { Authorization: `Bearer ${accessToken}` } });
  printStep(`GET ${path} with the access token`, JSON.stringify(body));
}

/**
 * Sends a request that must be answered 200 with JSON.
 * @throws Error with the status and the error code of any other answer
 */
async function ask(address: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(address, init);
  const body = (await response.json()) as Record<string, unknown>;
  if (response.status === 200) return { status: response.status, body };
  throw new Error(`${new URL(address).pathname} was answered ${response.status} ${String(body.error)}`);
}

/** Posts a form as a browser does, and stops before the redirect into the partner application. */
const post = (address: string, form: URLSearchParams) =>
  fetch(address, { method: 'POST', body: form, redirect: 'manual' });

function contextOf({ firstName, familyName, orgName, authorizationDetails }: Record<string, unknown>) {
  const [patient] = JSON.parse(textOf(authorizationDetails, 'authorizationDetails')) as object[];
  return { user: `${String(firstName)} ${String(familyName)}`, organisation: orgName, patient };
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`There is no ${name}`);
}
