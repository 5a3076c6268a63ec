import { redirect, sendJson } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Endpoint, Exchange } from '@clinical-launch/http/endpoint';
import { ServiceError, temporarilyUnavailable } from '@clinical-launch/http/errors';
import { authorizationOf, queryOf } from '@clinical-launch/http/request-target';
import { setCookie } from '@clinical-launch/pages/cookies';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { credentialsOf } from '../domain/sandbox-clients.ts';
import { addressSeconds } from '../store/sessions.ts';
import { foreignForm, type Portal } from './portal.ts';

/**
 * Creates the endpoints of the sign-in. A client exchanges its access token for a one-time address. Its page
 * opens a session after one click, within a minute.
 */
export function signIn(portal: Portal): readonly Endpoint[] {
  const { config, sessions, tokens, clients, cookieName } = portal;
  const cookie = {
    name: cookieName,
    path: '/developers',
    httpOnly: true,
    sameSite: 'lax',
    secure: config.publicUrl.startsWith('https:'),
  } as const;

  const begin = async ({ request, response, call }: Exchange) => {
    const authorization = authorizationOf(request);
    const { clientId, claims } = await tokens.verify(authorization);
    call.identify(`developer ${clientId}`, clientId);
    const client = clients().get(clientId);
    if (client === undefined) throw noSandboxClient();
    await assertAccepted(portal, authorization ?? '');
    const code = sessions.begin({
      clientId,
      accessToken: (authorization ?? '').replace(/^Bearer +/i, ''),
      credentials: credentialsOf(client, portal.clock.now()),
      expiresAt: Number(claims['exp']) * 1000,
    });
    response.statusCode = 201;
    sendJson(response, {
      url: `${config.publicUrl}/developers/session?code=${code}`,
      expiresIn: addressSeconds,
    });
  };

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
    portal.open('/developers/session', { GET: confirm, POST: begin }),
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

/**
 * Checks that the token was not revoked: sends an empty payload. The launch API answers 400, or 403 without
 * the right to launch, only if it accepts the token.
 * @throws ServiceError 401 if the launch API refuses the token, and 503 if it does not check the token
 */
async function assertAccepted(portal: Portal, authorization: string): Promise<void> {
  const { status } = await portal.callPlatform('/AccessApi/Validate', { authorization, body: '{}' });
  if (status === 401)
    throw new ServiceError({
      code: 'invalid_token',
      message: 'The access token was refused. Request a new one',
    });
  if (status !== 400 && status !== 403) throw temporarilyUnavailable('The platform did not check the token');
}
