import { createHash } from 'node:crypto';
import { escapeMarkup, type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts';
import {
  type Call,
  type Exchange,
  type Handler,
  isSpeculative,
  queryOf,
  type RefusalAudit,
  readForm,
  ServiceError,
} from '@clinical-launch/service/http';
import {
  launchSessionCookie,
  launchSessionCookieOptions,
  launchSessionIdleSeconds,
  pageHeaders,
} from '@clinical-launch/service/pages';
import type { Redemption, Tickets } from '@clinical-launch/tickets';
import type { Request, Response } from 'express';
import type { LaunchGatewayConfig } from '../config.ts';
import { challengesOf } from '../domain/code-verifier.ts';

/** The whole script of the page: leaves the address with the verifier out of the browser's history. */
const script = "location.replace(document.querySelector('a').href)";
const scriptHash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/**
 * `/secureLaunch` (OLTR: Launch the OLTR system): redeems the launch token and opens its launch session.
 * 200 for the one winner, 410 for a token that was used, 401 for everything else; a mismatch leaves the token usable.
 */
export function secureLaunch(config: LaunchGatewayConfig, tickets: Tickets): Handler<Exchange> {
  return async ({ request, response, call }) => {
    // Nobody is looking at the answer, so nothing may be used up.
    if (request.method === 'HEAD' || isSpeculative(request))
      throw refused('speculative_request', 'A prefetch or a preview launches nothing');
    const { launchToken, codeVerifier } = await launchParameters(request, response);
    const redemption = await tickets.redeem('launch-token', launchToken, {
      proofs: challengesOf(codeVerifier),
      successor: {
        kind: 'launch-session',
        ttlSeconds: launchSessionIdleSeconds,
        chainSeconds: config.sessionSeconds,
      },
      events: [call.event('launch.token.redeemed.v1', {})],
    });
    openSession(response, config, assertRedeemed(redemption, call));
  };
}

/** Makes `launch.token.refused.v1`, under the launch's own GUID where the token is known. */
export const auditRefusal: RefusalAudit = ({ status, code }, { call }) =>
  call.event('launch.token.refused.v1', { status, reason: code });

/** Both parameters, once each, in exactly this case. @throws ServiceError 401. */
async function launchParameters(request: Request, response: Response) {
  const sent = request.method === 'POST' ? await readLaunchForm(request, response) : queryOf(request);
  const [launchToken, ...moreTokens] = sent.getAll('launchToken');
  const [codeVerifier, ...moreVerifiers] = sent.getAll('codeVerifier');
  if (
    launchToken === undefined ||
    codeVerifier === undefined ||
    moreTokens.length + moreVerifiers.length > 0
  ) {
    throw refused('missing_parameter', 'launchToken and codeVerifier are needed, once each');
  }
  return { launchToken, codeVerifier };
}

/**
 * The form of a POST. What is no form, or cannot be read, is no valid launch (OLTR: 401 otherwise), whatever is wrong
 * with it. A body that is too long still closes the connection.
 */
async function readLaunchForm(request: Request, response: Response): Promise<URLSearchParams> {
  try {
    return await readForm(request, response);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw refused('unreadable_form', 'Send launchToken and codeVerifier as a form', error);
  }
}

type Redeemed = { readonly context: LaunchContext; readonly session: string };

/** @throws ServiceError 410 or 401, after the call has taken on the GUID of the launch it belongs to. */
function assertRedeemed(redemption: Redemption, call: Call): Redeemed {
  if (redemption.outcome !== 'unknown') call.adopt(redemption.correlationId);
  switch (redemption.outcome) {
    case 'redeemed':
    // Never asked for here: a launch token has no time in which it may be repeated.
    case 'repeated':
      if (redemption.successor === undefined)
        throw new TypeError('A launch token has a session as its successor');
      return { context: parseLaunchContext(redemption.context), session: redemption.successor };
    case 'used':
      throw new ServiceError({
        status: 410,
        code: 'token_used',
        message: 'The launch token was used before',
      });
    case 'mismatch':
      throw refused('verifier_mismatch', 'The code verifier does not fit the code challenge');
    case 'unknown':
      throw refused('token_unknown', 'The launch token is unknown or has expired');
  }
}

function openSession(
  response: Response,
  { isSecure }: LaunchGatewayConfig,
  { context, session }: Redeemed,
): void {
  const { launchId, client } = context;
  const path = `/oltr/${launchId}`;
  const isFramed = client.frameAncestors.length > 0;
  response
    .set(pageHeaders({ frameAncestors: client.frameAncestors, scriptHashes: [scriptHash] }))
    .cookie(launchSessionCookie(isSecure), session, launchSessionCookieOptions({ path, isSecure, isFramed }))
    .type('html')
    .send(page(`${path}/`));
}

/** Works without scripts too: the refresh does what the script does. */
function page(address: string): string {
  const href = escapeMarkup(address);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Opening online test requesting</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url=${href}">
</head>
<body>
<main>
<h1>Opening online test requesting</h1>
<p><a href="${href}">Continue</a></p>
</main>
<script>${script}</script>
</body>
</html>
`;
}

/** A refusal; one with a cause keeps the headers of it. */
const refused = (code: string, message: string, cause?: ServiceError) =>
  new ServiceError({ status: 401, code, message, headers: cause?.headers ?? {}, cause });
