import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { sendJson } from '@clinical-launch/http/answer';
import type { Call } from '@clinical-launch/http/call';
import { behind, type Handler } from '@clinical-launch/http/endpoint';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { AdditionalIssue, Tickets } from '@clinical-launch/tickets/tickets';
import type { PushedAnswer } from '../domain/answers.ts';
import {
  type AuthorizationRequest,
  authorizationParameters,
  readAuthorizationRequest,
} from '../domain/authorization-request.ts';
import { isConfidential } from '../domain/client-certificates.ts';
import { launchProof } from '../domain/desktop-chain.ts';
import { type PushedParameters, pushedRequestSeconds, requestUriOf } from '../domain/pushed-request.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { AuthorizeRefusal, TokenRefusal, tooManyPushes } from '../errors.ts';
import { usingUp } from '../grants/bindings.ts';
import { clientParameters, type SenderDependencies } from './authenticate-client.ts';
import { authenticatePartner } from './authenticate-partner.ts';
import { countHolder } from './authorize.ts';
import { readDpopProof } from './dpop.ts';
import { type DesktopExchange, type FormExchange, pickParameters, readTokenForm } from './realm-guards.ts';

type PushDependencies = SenderDependencies & { readonly tickets: Tickets };

/** The maximum size of a stored request, as JSON. */
export const pushedRequestBytes = 4096;

/** The limit of pushes of one launch, so that nobody can fill the store with one launch identifier. */
const pushLimit = { tickets: 10, seconds: 60 };

/**
 * Stores a valid authorization request and answers 201 with its `request_uri`: `POST
 * /{realm}/oauth2/v2.0/par` (RFC 9126). The `request_uri` can be used once, by this partner application,
 * within a minute. Each launch has at most one stored request. A newer request replaces it, and the end of
 * the launch removes it. Clients authenticate as at the token endpoint. Stores nothing for callers without a
 * valid launch identifier.
 */
export function pushAuthorizationRequest(dependencies: PushDependencies): Handler<DesktopExchange> {
  const { tickets, limiter } = dependencies;
  const push = behind(authenticatePartner(dependencies)<PushExchange>, async (exchange) => {
    const { realm, request, response, call, form } = exchange;
    const authorization = assertPushable(form, realm);
    call.trace.follow(launchOf(authorization.launch));
    // The request of an authenticated partner has already been counted towards its rate limit.
    const findLaunch = () => tickets.find('launch-identifier', authorization.launch);
    if (!isConfidential(authorization.partner))
      await countHolder({ findLaunch, limiter, realm, authorization });
    const dpopProof = await readDpopProof({ dependencies, realm, request, endpoint: 'par' });
    const dpopKey = agreeDpopKey(authorization, dpopProof?.thumbprint);
    const proof = launchProof({ realm: realm.name, clientId: authorization.partner.clientId });
    const issue = await tickets.issueAdditional('pushed-request', {
      live: { kind: 'launch-identifier', ticket: authorization.launch, proofs: [proof] },
      context: pushedParameters(form, dpopKey),
      challenge: proof,
      ...usingUp(dpopProof),
      ttlSeconds: pushedRequestSeconds,
      limit: pushLimit,
    });
    const answer: PushedAnswer = {
      request_uri: requestUriOf(assertIssued(issue, call)),
      expires_in: pushedRequestSeconds,
    };
    response.statusCode = 201;
    sendJson(response, answer);
  });
  return async (exchange) => {
    const form = await readTokenForm(exchange);
    return push({ ...exchange, form, parameters: pickParameters(form, clientParameters) });
  };
}

type PushExchange = FormExchange<DesktopIssuingRealm> & { readonly form: URLSearchParams };

/**
 * Returns the ticket of the stored request.
 * @throws AuthorizeRefusal, TokenRefusal, or ServiceError 429 if too many requests were pushed for the launch
 */
function assertIssued(issue: AdditionalIssue, call: Call): string {
  switch (issue.outcome) {
    case 'issued':
      call.adopt(issue.correlationId);
      return issue.ticket;
    case 'limited':
      call.adopt(issue.correlationId);
      throw tooManyPushes(issue.waitSeconds);
    case 'mismatch':
      throw new AuthorizeRefusal('launch_of_other_client');
    case 'unknown':
      throw new AuthorizeRefusal('unknown_launch');
    case 'used-proof':
      throw new TokenRefusal('used_dpop_proof');
  }
}

/**
 * Checks a request as the authorization endpoint does.
 * @throws AuthorizeRefusal, and TokenRefusal 413 if it is too large (RFC 9126 section 2.3)
 */
function assertPushable(form: URLSearchParams, realm: DesktopIssuingRealm): AuthorizationRequest {
  const read = readAuthorizationRequest(form, realm);
  // A pushed request must not contain `request_uri` (RFC 9126 section 2.1).
  const nested = form.has('request_uri')
    ? [{ name: 'request_uri', code: 'invalid_request', message: 'must not be pushed' } as const]
    : [];
  const faults = [...nested, ...('faults' in read ? read.faults : [])];
  if ('faults' in read || faults.length > 0) throw new AuthorizeRefusal('faulty_parameters', faults);
  if (Buffer.byteLength(JSON.stringify(pushedParameters(form))) > pushedRequestBytes)
    throw new TokenRefusal('request_too_large');
  return read.request;
}

/**
 * Returns the thumbprint of the key that must redeem the code, from the request's DPoP proof or from
 * `dpop_jkt`. If both are present, they must be equal (RFC 9449 section 10.1).
 * @throws TokenRefusal
 */
function agreeDpopKey({ dpopKey }: AuthorizationRequest, proven: string | undefined): string | undefined {
  if (proven !== undefined && dpopKey !== undefined && proven !== dpopKey)
    throw new TokenRefusal('invalid_dpop_proof', {
      message: 'The parameter dpop_jkt must be the thumbprint of the key of the DPoP proof',
    });
  return proven ?? dpopKey;
}

/**
 * Returns the sent parameters without credentials and unknown parameters. If a key is given, adds it as
 * `dpop_jkt`.
 */
function pushedParameters(form: URLSearchParams, dpopKey?: string): PushedParameters {
  const sent = authorizationParameters.flatMap((name) => {
    const value = form.get(name) ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(sent), ...withoutUndefined({ dpop_jkt: dpopKey }) };
}
