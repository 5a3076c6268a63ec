import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeMarkup } from '@clinical-launch/contracts/formats';
import {
  type LaunchContext,
  launchSessionSeconds,
  navigationChallenge,
  parseLaunchContext,
  parseLaunchNotice,
} from '@clinical-launch/contracts/launch-context';
import type { RefusalCode } from '@clinical-launch/contracts/refusals/codes';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { sendText, setHeaders } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Call } from '@clinical-launch/http/call';
import { behind, type Exchange, type Handler, type RefusalAudit } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { isUnopened, queryOf } from '@clinical-launch/http/request-target';
import { launchSessionIdleSeconds, openSessionCookie } from '@clinical-launch/pages/launch-session';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { Redemption, Tickets } from '@clinical-launch/tickets/tickets';
import type { LaunchGatewayConfig } from '../config.ts';
import { challengesOf } from '../domain/code-verifier.ts';
import { toErrorPage } from './error-page.ts';

/** The only script of the page. Keeps the address with the verifier out of the browser's history. */
const script = "location.replace(document.querySelector('a').href)";
const scriptHash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

export type LaunchExchange = Exchange & {
  readonly launchToken: string;
  readonly codeVerifier: string;
  readonly launchId: string | undefined;
};

/**
 * Redeems the launch token and opens its launch session: `/secureLaunch` (OLTR: Launch the OLTR system).
 * Answers 200 to the first valid request, 410 to a used token, and 401 to everything else. A wrong verifier
 * leaves the token usable.
 */
export function secureLaunch(
  config: LaunchGatewayConfig,
  tickets: Tickets,
  onOpened: (launch: LaunchContext) => void,
): Handler {
  return behind(readLaunch, async (exchange: LaunchExchange) => {
    const { request, response, call, launchToken, codeVerifier } = exchange;
    const proofs = challengesOf(codeVerifier);
    const redemption = await tickets.redeem('launch-token', launchToken, {
      proofs: isNavigated(request) ? [...proofs, ...proofs.map(navigationChallenge)] : proofs,
      successor: {
        kind: 'launch-session',
        ttlSeconds: launchSessionIdleSeconds,
        chainSeconds: launchSessionSeconds,
      },
      events: [call.event('launch.token.redeemed.v1', {})],
    });
    const redeemed = assertRedeemed(redemption, exchange);
    openSession(response, config, redeemed);
    onOpened(redeemed.context);
  });
}

/**
 * Creates the event `launch.token.refused.v1`. `launchId` is the launch ID in the token, even if the token is
 * unknown. If the token is known, the correlation id is the same GUID. An expired token is known only if it
 * has a notice (`LaunchNotice`).
 */
export const auditRefusal: RefusalAudit<LaunchExchange> = ({ status, code }, { call, launchId }) =>
  call.event('launch.token.refused.v1', {
    status,
    reason: code,
    ...withoutUndefined({ launchId }),
  });

/**
 * Returns whether the request may open the launch of a client that requires navigations: the browser says
 * that it navigates (`Sec-Fetch-Mode`, Fetch Metadata Request Headers section 2.2), or it posts a form, which
 * link scanners do not send.
 */
const isNavigated = ({ method, headers }: IncomingMessage) =>
  method === 'POST' || headers['sec-fetch-mode'] === 'navigate';

/** Reads the launch token and the code verifier, and joins the trace of the launch. */
async function readLaunch(exchange: Exchange): Promise<LaunchExchange> {
  const { request, call } = exchange;
  // Only a request whose answer a user opens may use up a single-use token.
  if (request.method === 'HEAD' || isUnopened(request))
    throw refused('speculative_request', 'A prefetch, a preview, an image or a script cannot start a launch');
  const parameters = await launchParameters(exchange);
  const launchId = launchOf(parameters.launchToken);
  call.trace.follow(launchId);
  return { ...exchange, ...parameters, launchId };
}

/** Reads `launchToken` and `codeVerifier`. @throws ServiceError 401 unless each was sent exactly once */
async function launchParameters(exchange: Exchange) {
  const { request } = exchange;
  const sent = request.method === 'POST' ? await readLaunchForm(exchange) : queryOf(request);
  const [launchToken, ...moreTokens] = sent.getAll('launchToken');
  const [codeVerifier, ...moreVerifiers] = sent.getAll('codeVerifier');
  if (
    launchToken === undefined ||
    codeVerifier === undefined ||
    moreTokens.length + moreVerifiers.length > 0
  ) {
    throw refused('missing_parameter', 'Send launchToken and codeVerifier, once each');
  }
  return { launchToken, codeVerifier };
}

/** The maximum bytes of the form. A launch token and a code verifier have less than 400. */
const maxFormBytes = 2048;

/**
 * Reads the form of a POST. Answers 401 to a body that is not a valid form (OLTR: 401 otherwise). Closes the
 * connection if the body is too long.
 */
async function readLaunchForm(exchange: Exchange): Promise<URLSearchParams> {
  try {
    return await readForm(exchange, maxFormBytes);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    throw refused('unreadable_form', 'Send launchToken and codeVerifier as a form', error);
  }
}

type Redeemed = { readonly context: LaunchContext; readonly session: string };

const refusals = {
  used: { code: 'token_used', message: 'The launch token was already used' },
  mismatch: {
    code: 'verifier_mismatch',
    message: 'The code verifier does not match the code challenge',
  },
  unknown: { code: 'token_unknown', message: 'The launch token is unknown or has expired' },
  barred: {
    code: 'navigation_required',
    message: 'The client requires a navigation of a browser (Sec-Fetch-Mode), or a form',
  },
} as const;

/**
 * Checks the outcome of a redemption, and adopts the GUID of a known launch.
 * @throws ServiceError 410 or 401
 */
function assertRedeemed(redemption: Redemption, { request, call, launchId }: LaunchExchange): Redeemed {
  switch (redemption.outcome) {
    case 'redeemed':
    // The outcome `repeated` cannot occur, because a launch token may not be redeemed again.
    case 'repeated':
      return openedLaunch(redemption, call);
    case 'used':
    case 'mismatch':
    case 'unknown': {
      const { outcome, notice } = redemption;
      // Only an issued token has a stored notice. Its launch ID is therefore genuine, even if
      // the token has expired.
      const isKnown = outcome !== 'unknown' || notice !== undefined;
      if (isKnown && launchId !== undefined) call.adopt(launchId);
      const { requiresNavigation = false } = parseLaunchNotice(notice ?? {});
      const isBarred = outcome === 'mismatch' && requiresNavigation && !isNavigated(request);
      const refusal = refusals[isBarred ? 'barred' : outcome];
      const shown = { reference: call.correlationId, reason: refusal.code };
      throw new ServiceError({ ...refusal, headers: toErrorPage(request, notice, shown) });
    }
    case 'used-proof':
    case 'exhausted':
      throw new TypeError('The outcome is impossible without a single-use proof and a limit');
  }
}

function openedLaunch(
  {
    context: sealed,
    successor: session,
    correlationId,
  }: Extract<Redemption, { outcome: 'redeemed' | 'repeated' }>,
  call: Call,
): Redeemed {
  const context = parseLaunchContext(sealed);
  call.adopt(correlationId, context.client.clientId);
  if (session === undefined)
    throw new TypeError('A redeemed launch token must have a session as its successor');
  return { context, session };
}

function openSession(
  response: ServerResponse,
  { isSecure }: LaunchGatewayConfig,
  { context, session }: Redeemed,
): void {
  const { launchId, client } = context;
  const path = `/oltr/${launchId}`;
  const isFramed = client.frameAncestors.length > 0;
  setHeaders(response, headersFor(client.frameAncestors));
  const opened = { ticket: session, endsInSeconds: launchSessionSeconds };
  response.setHeader('Set-Cookie', openSessionCookie(opened, { path, isSecure, isFramed }));
  sendText(response, 'text/html', page(`${path}/`));
}

const unframedHeaders = pageHeaders({ scriptHashes: [scriptHash] });

/** Returns the headers of the page. Pages without frame ancestors share one object. */
const headersFor = (frameAncestors: readonly string[]) =>
  frameAncestors.length === 0 ? unframedHeaders : pageHeaders({ frameAncestors, scriptHashes: [scriptHash] });

/** Returns the page. If scripts are disabled, its `<meta http-equiv="refresh">` opens the address. */
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

const refused = (code: RefusalCode, message: string, cause?: ServiceError) =>
  new ServiceError({ status: 401, code, message, headers: cause?.headers ?? {}, cause });
