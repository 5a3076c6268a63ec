import { membersOf } from '@clinical-launch/conformance/exchange';
import { redirect, sendJson, wantsPage } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint, Exchange } from '@clinical-launch/http/endpoint';
import { ServiceError, temporarilyUnavailable } from '@clinical-launch/http/errors';
import { authorizationOf, queryOf } from '@clinical-launch/http/request-target';
import { setCookie } from '@clinical-launch/pages/cookies';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import { credentialsOf, isDemoClient } from '../domain/sandbox-clients.ts';
import { addressSeconds } from '../store/sessions.ts';
import { foreignForm, type Portal } from './portal.ts';

/**
 * Creates the endpoints of the sign-in. A client exchanges its access token for a one-time address. Its page
 * opens a session after one click, within a minute. A form of the start page takes the token, or the name of a
 * client whose secret is public.
 */
export function signIn(portal: Portal): readonly Endpoint[] {
  const { config, sessions, cookieName } = portal;
  const cookie = {
    name: cookieName,
    path: '/developers',
    httpOnly: true,
    sameSite: 'lax',
    secure: config.publicUrl.startsWith('https:'),
  } as const;

  /**
   * Asks before it signs in, because another person may have sent the address to sign a developer in
   * unnoticed.
   */
  const confirm = ({ request, response }: Exchange) => {
    const code = queryOf(request).get('code') ?? '';
    const session = sessions.findWaiting(code);
    if (session === undefined) throw usedAddress();
    portal.show(response, 'confirm-sign-in.njk', { clientId: session.clientId, code });
  };

  const open = async (exchange: Exchange) => {
    const { request, response } = exchange;
    if (!isOwnForm(request, config.publicUrl)) throw foreignForm();
    const id = sessions.open((await readForm(exchange, 1024)).get('code') ?? '');
    if (id === undefined) throw usedAddress();
    setCookie(response, { ...cookie, value: id });
    redirect(response, '/developers/');
  };

  return [
    portal.open('/developers/session', { GET: confirm, POST: beginSignIn(portal) }),
    portal.open('/developers/session/open', { POST: open }),
    portal.ofClient('/developers/sign-out', {
      POST({ response, sessionId }) {
        sessions.end(sessionId);
        setCookie(response, { ...cookie, value: '', expires: new Date(0) });
        redirect(response, '/developers/');
      },
    }),
  ];
}

const usedAddress = () =>
  new ServiceError({
    code: 'session_required',
    message: 'This address was already used, or it is older than a minute. Request a new one',
  });

const noSandboxClient = () =>
  new ServiceError({
    code: 'insufficient_scope',
    message: 'Only sandbox clients may use the developer pages. Ask the operator for a sandbox client',
  });

/** Creates the handler that begins a sign-in with an access token, from a header or from the start page. */
function beginSignIn(portal: Portal) {
  const { config, sessions, tokens, clients } = portal;

  /** Returns the one-time address that opens a session of the client of a token. */
  const addressFor = async ({ call }: Exchange, authorization: string | undefined): Promise<string> => {
    const { clientId, claims } = await tokens.verify(authorization);
    call.identify(`developer ${clientId}`, clientId);
    const client = clients().get(clientId);
    if (client === undefined) throw noSandboxClient();
    const accessToken = (authorization ?? '').replace(/^Bearer +/i, '');
    await assertAccepted(portal, accessToken, client);
    const code = sessions.begin({
      clientId,
      accessToken,
      credentials: credentialsOf(client, portal.clock.now()),
      expiresAt: Number(claims['exp']) * 1000,
    });
    return `${config.publicUrl}/developers/session?code=${code}`;
  };

  return async (exchange: Exchange) => {
    const { request, response } = exchange;
    const authorization = authorizationOf(request);
    if (authorization === undefined && wantsPage(exchange)) {
      if (!isOwnForm(request, config.publicUrl)) throw foreignForm();
      const form = await readForm(exchange, 16_384);
      const client = form.get('client');
      const token =
        client === null ? (form.get('token') ?? '').trim() : await requestDemoToken(portal, client);
      return redirect(response, await addressFor(exchange, `Bearer ${token}`));
    }
    const url = await addressFor(exchange, authorization);
    response.statusCode = 201;
    sendJson(response, { url, expiresIn: addressSeconds });
  };
}

/** Requests an access token for a client whose secret is public. @throws ServiceError 403 for another client */
async function requestDemoToken({ clients, config, callPlatform }: Portal, clientId: string) {
  const client = clients().get(clientId);
  if (client?.realm === undefined || !isDemoClient(client)) throw noSandboxClient();
  const credentials = Buffer.from(`${clientId}:${demoSecret(clientId)}`).toString('base64');
  const form = { grant_type: 'client_credentials', scope: `${config.audience}/.default` };
  const { status, body } = await callPlatform(`/idp/${client.realm}/oauth2/v2.0/token`, {
    authorization: `Basic ${credentials}`,
    body: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  if (status !== 200) throw temporarilyUnavailable('The platform issued no access token');
  return String(membersOf(body)['access_token']);
}

/**
 * Checks that the launch API accepts the token.
 * @throws ServiceError 401 if the launch API refuses the token, and 503 if it does not check the token
 */
async function assertAccepted({ checkToken }: Portal, ...token: Parameters<Portal['checkToken']>) {
  const status = await checkToken(...token);
  if (status === 401)
    throw new ServiceError({
      code: 'invalid_token',
      message: 'The access token was refused. Request a new one',
    });
  if (![200, 400, 403].includes(status)) throw temporarilyUnavailable('The platform did not check the token');
}
