import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { redirect } from '@clinical-launch/http/answer';
import type { Call } from '@clinical-launch/http/call';
import { behind, type Handler, type RefusalAudit } from '@clinical-launch/http/endpoint';
import { isSpeculative, isUnopened, queryOf } from '@clinical-launch/http/request-target';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Clock } from '@clinical-launch/runtime/clock';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { FoundTicket, Redemption, Tickets } from '@clinical-launch/tickets/tickets';
import {
  type AuthorizationRequest,
  readAuthorizationRequest,
  readPushedReference,
  redirectAddress,
} from '../domain/authorization-request.ts';
import { type CodeDetail, codeProof, launchProof, readLaunch } from '../domain/desktop-chain.ts';
import { signInClaims } from '../domain/desktop-tokens.ts';
import { readPushedParameters } from '../domain/pushed-request.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { AuthorizeRefusal, speculativeRequest, TokenRefusal } from '../errors.ts';
import { type DesktopExchange, type NamedExchange, readTokenForm, senderOf } from './realm-guards.ts';

type AuthorizeDependencies = {
  readonly tickets: Tickets;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
};

/**
 * Exchanges the launch identifier for an authorization code, and redirects with the code to the registered
 * redirect URI: `POST` or `GET /{realm}/oauth2/v2.0/authorize` (Desktop: Authorization endpoint; RFC 6749
 * section 4.1.1). Answers errors directly and never by a redirect. An error leaves the launch identifier
 * usable. A `request_uri` refers to a pushed request (RFC 9126 section 4).
 */
export function authorize({ tickets, limiter, clock }: AuthorizeDependencies): Handler<DesktopExchange> {
  return behind(readParameters, async ({ realm, response, call, sent }) => {
    const isPushed = sent.has('request_uri');
    const authorization = isPushed
      ? assertInOrder(await redeemPushed({ tickets, realm, sent, call }), realm)
      : assertPlain(assertInOrder(sent, realm));
    call.trace.follow(launchOf(authorization.launch));
    // The launch is read at most once, and only if the rate limit or the sign-in depends on it.
    let reading: Promise<FoundTicket | undefined> | undefined;
    const findLaunch = () => (reading ??= tickets.find('launch-identifier', authorization.launch));
    // A pushed request already counted towards the rate limit when it was pushed.
    if (!isPushed) await countHolder({ findLaunch, limiter, realm, authorization });
    await assertSignIn({ findLaunch, clock, realm, authorization, call });
    const redemption = await redeemLaunch({ tickets, realm, authorization, call });
    const code = assertRedeemed(redemption, call);
    redirect(response, redirectAddress(authorization, realm, code), 302);
  });
}

type ParametersExchange = DesktopExchange &
  NamedExchange<DesktopIssuingRealm> & { readonly sent: URLSearchParams };

/** Reads the form of a POST or the query of a GET, never both. */
async function readParameters(exchange: DesktopExchange): Promise<ParametersExchange> {
  const { realm, request, response } = exchange;
  response.setHeader('Referrer-Policy', 'no-referrer');
  const isPost = request.method === 'POST';
  // A script of the partner application may post the form.
  if (isPost ? isSpeculative(request) : isUnopened(request)) throw speculativeRequest();
  const sent = isPost ? await readTokenForm(exchange) : queryOf(request);
  const clientId = realm.desktop.partners.get(sent.get('client_id') ?? '')?.clientId;
  return { ...exchange, sent, clientId };
}

function assertInOrder(sent: URLSearchParams, realm: DesktopIssuingRealm) {
  const read = readAuthorizationRequest(sent, realm);
  if ('faults' in read) throw new AuthorizeRefusal('faulty_parameters', read.faults);
  return read.request;
}

/** Refuses a request that was not pushed, if its partner must push every request (RFC 9126 section 4). */
function assertPlain(authorization: AuthorizationRequest): AuthorizationRequest {
  if (authorization.partner.requirePushedAuthorizationRequests === true)
    throw new AuthorizeRefusal('unpushed_request');
  return authorization;
}

type PushedUse = {
  readonly tickets: Tickets;
  readonly realm: DesktopIssuingRealm;
  readonly sent: URLSearchParams;
  readonly call: Call;
};

/**
 * Uses up a pushed request and returns its parameters. The caller checks them again, because the registry may
 * have changed. A request of another partner leaves the pushed request usable.
 * @throws AuthorizeRefusal
 */
async function redeemPushed({ tickets, realm, sent, call }: PushedUse): Promise<URLSearchParams> {
  const read = readPushedReference(sent, realm);
  if ('faults' in read) throw new AuthorizeRefusal('faulty_parameters', read.faults);
  call.trace.follow(launchOf(read.ticket));
  const redemption = await tickets.redeem('pushed-request', read.ticket, {
    proofs: [launchProof({ realm: realm.name, clientId: read.clientId })],
    events: [],
  });
  if ('correlationId' in redemption) call.adopt(redemption.correlationId);
  switch (redemption.outcome) {
    case 'redeemed':
    case 'repeated':
      return new URLSearchParams(readPushedParameters(redemption));
    case 'used':
      throw new AuthorizeRefusal('used_request_uri');
    case 'mismatch':
      throw new AuthorizeRefusal('request_uri_of_other_client');
    case 'unknown':
      throw new AuthorizeRefusal('unknown_request_uri');
    case 'used-proof':
    case 'exhausted':
      throw impossibleOutcome();
  }
}

type LaunchUse = {
  readonly realm: DesktopIssuingRealm;
  readonly authorization: AuthorizationRequest;
};

type LaunchReading = LaunchUse & {
  /** Reads the launch without using it up. */
  readonly findLaunch: () => Promise<FoundTicket | undefined>;
};

/**
 * Counts a request towards the rate limit of its partner if the launch identifier is valid. Other callers
 * therefore cannot use up the limit.
 * @throws ServiceError 429
 */
export async function countHolder({
  findLaunch,
  limiter,
  realm,
  authorization,
}: LaunchReading & { readonly limiter: RateLimiter }): Promise<void> {
  const { clientId, requestsPerSecond } = authorization.partner;
  if (requestsPerSecond === undefined) return;
  if ((await findLaunch()) === undefined) return;
  await limiter.count(`${realm.name} ${clientId}`, requestsPerSecond);
}

/**
 * Checks the sign-in of the user against `max_age` and, if the registry requires it, `acr_values` (OpenID
 * Connect Core 1.0 section 3.1.2.1). Ignores a launch of another application, because the redemption refuses
 * that launch.
 * @throws AuthorizeRefusal
 */
async function assertSignIn({
  findLaunch,
  clock,
  realm,
  authorization: { partner, maxAgeSeconds, acrValues },
  call,
}: LaunchReading & { readonly clock: Clock; readonly call: Call }): Promise<void> {
  const requiredValues = partner.requireAcrValues === true ? acrValues : undefined;
  if (maxAgeSeconds === undefined && requiredValues === undefined) return;
  const found = await findLaunch();
  if (found === undefined) return;
  const context = readLaunch(found);
  if (context.realm !== realm.name || context.clientId !== partner.clientId) return;
  call.adopt(found.correlationId);
  const signedInAt = context.signIn?.auth_time;
  if (maxAgeSeconds !== undefined && signedInAt === undefined)
    throw new AuthorizeRefusal('sign_in_time_unknown');
  if (maxAgeSeconds !== undefined && clock.now() / 1000 - (signedInAt ?? 0) > maxAgeSeconds)
    throw new AuthorizeRefusal('sign_in_too_old');
  if (requiredValues !== undefined && !requiredValues.includes(signInClaims(context).acr))
    throw new AuthorizeRefusal('acr_unmet');
}

function redeemLaunch({
  tickets,
  realm,
  authorization,
  call,
}: LaunchUse & { readonly tickets: Tickets; readonly call: Call }): Promise<Redemption> {
  const { redirectUri, codeChallenge, scope, nonce, dpopKey, partner } = authorization;
  const { clientId } = partner;
  const ttlSeconds = realm.desktop.authorizationCodeSeconds;
  const detail: CodeDetail = {
    clientId,
    redirectUri,
    scope,
    ...withoutUndefined({ nonce, dpopKey }),
  };
  return tickets.redeem('launch-identifier', authorization.launch, {
    proofs: [launchProof({ realm: realm.name, clientId })],
    successor: {
      kind: 'authorization-code',
      ttlSeconds,
      detail,
      challenge: codeProof({ clientId, redirectUri, codeChallenge }),
    },
    events: [
      call.event('desktop.code.issued.v1', {
        realm: realm.name,
        clientId,
        ttlSeconds,
      }),
    ],
  });
}

/**
 * Returns the authorization code of a redemption, and adopts the GUID of the launch.
 * @throws AuthorizeRefusal
 */
function assertRedeemed(redemption: Redemption, call: Call): string {
  if ('correlationId' in redemption) call.adopt(redemption.correlationId);
  switch (redemption.outcome) {
    case 'redeemed':
    case 'repeated':
      if (redemption.successor === undefined)
        throw new TypeError('A redeemed launch identifier must have a code as successor');
      return redemption.successor;
    case 'used':
      throw new AuthorizeRefusal('used_launch');
    case 'mismatch':
      throw new AuthorizeRefusal('launch_of_other_client');
    case 'unknown':
      throw new AuthorizeRefusal('unknown_launch');
    case 'used-proof':
    case 'exhausted':
      throw impossibleOutcome();
  }
}

/**
 * Creates the error for outcomes that cannot occur, because the authorization endpoint redeems without a DPoP
 * proof and without a limit.
 */
const impossibleOutcome = () =>
  new TypeError('The outcome is impossible without a single-use proof and a limit');

/** Creates the event `desktop.launch.refused.v1`. */
export function auditAuthorizeRefusal(step: 'push' | 'authorize'): RefusalAudit<NamedExchange> {
  return (error, exchange) => {
    const { call, realm } = exchange;
    if (realm === undefined) return undefined;
    const hasReason = error instanceof AuthorizeRefusal || error instanceof TokenRefusal;
    const parameters = error instanceof AuthorizeRefusal ? error.parameters : [];
    return call.event('desktop.launch.refused.v1', {
      realm: realm.name,
      ...senderOf(error, exchange),
      step,
      status: error.status,
      reason: hasReason ? error.reason : error.code,
      ...(parameters.length > 0 ? { paths: [...parameters] } : {}),
    });
  };
}
