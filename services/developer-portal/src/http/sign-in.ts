import { redirect, sendJson } from '@clinical-launch/http/answer';
import type { Endpoint, Exchange } from '@clinical-launch/http/endpoint';
import { ServiceError, temporarilyUnavailable } from '@clinical-launch/http/errors';
import { authorizationOf, isUnopened, queryOf } from '@clinical-launch/http/request-target';
import { setCookie } from '@clinical-launch/pages/cookies';
import { addressSeconds } from '../domain/session-times.ts';
import type { Portal } from './portal.ts';

/**
 * Creates the endpoints of the sign-in. A client exchanges its access token for a one-time address, which opens
 * a session within a minute.
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
    const { clientId } = await tokens.verify(authorization);
    call.identify(`developer ${clientId}`, clientId);
    if (!clients().has(clientId)) throw noSandboxClient();
    await assertAccepted(portal, authorization ?? '');
    const code = sessions.begin({ clientId, accessToken: (authorization ?? '').replace(/^Bearer +/i, '') });
    response.statusCode = 201;
    sendJson(response, {
      url: `${config.publicUrl}/developers/session?code=${code}`,
      expiresIn: addressSeconds,
    });
  };

  const open = ({ request, response }: Exchange) => {
    const id = isUnopened(request) ? undefined : sessions.open(queryOf(request).get('code') ?? '');
    if (id === undefined)
      throw new ServiceError({
        code: 'session_required',
        message: 'This address was already used, or it is older than a minute. Request a new one',
      });
    setCookie(response, { ...cookie, value: id });
    redirect(response, '/developers/');
  };

  return [
    portal.open('/developers/session', { GET: open, POST: begin }),
    portal.behindSignIn('/developers/sign-out', {
      POST({ response, sessionId }) {
        sessions.end(sessionId);
        setCookie(response, { ...cookie, value: '', expires: new Date(0) });
        redirect(response, '/developers/');
      },
    }),
  ];
}

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
