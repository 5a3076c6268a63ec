import type { Handler, RateLimiter } from '@clinical-launch/service/http';
import { type FoundTicket, launchOf, type Tickets } from '@clinical-launch/tickets';
import type { PushedAnswer } from '../domain/answers.ts';
import {
  type AuthorizationRequest,
  authorizationParameters,
  readAuthorizationRequest,
} from '../domain/authorization-request.ts';
import { launchProof, readLaunch } from '../domain/desktop-chain.ts';
import { type PushedParameters, pushedRequestSeconds, requestUriOf } from '../domain/pushed-request.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { AuthorizeRefusal, TokenRefusal } from '../errors.ts';
import type { ClientAuthenticationParts } from './authenticate-client.ts';
import { authenticatePartner } from './authenticate-partner.ts';
import { clientParameters } from './client-credentials.ts';
import type { DesktopExchange } from './door.ts';
import { readDpopKey } from './dpop.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

type PushParts = ClientAuthenticationParts & {
  readonly tickets: Tickets;
  readonly limiter: RateLimiter;
};

/**
 * Stores a valid authorization request and answers 201 with its `request_uri`:
 * `POST /{realm}/oauth2/v2.0/par` (RFC 9126). The `request_uri` works once, for this partner application,
 * within a minute. Authenticates as the token endpoint does. Stores nothing for callers without a live launch
 * identifier. The stored request ends with the launch.
 */
export function pushAuthorizationRequest(parts: PushParts): Handler<DesktopExchange> {
  const { tickets, limiter } = parts;
  return async (exchange) => {
    const { realm, request, response, call } = exchange;
    const form = await readTokenForm(request, response);
    const credentials = pickParameters(form, clientParameters);
    await authenticatePartner({ ...exchange, parts, parameters: credentials });
    const asked = assertPushable(form, realm);
    const { clientId, requestsPerSecond } = asked.partner;
    call.trace.follow(launchOf(asked.launch));
    const launch = await findLaunch(tickets, { realm, asked });
    call.adopt(launch.correlationId);
    await limiter.count(`${realm.name} ${clientId}`, requestsPerSecond);
    const dpopKey = await agreeDpopKey(asked, { parts, realm, request });
    const { correlationId, chainEndsInSeconds: chainSeconds } = launch;
    const issue = await tickets.issue('pushed-request', {
      context: pushedParameters(form, dpopKey),
      challenge: launchProof({ realm: realm.name, clientId }),
      ttlSeconds: pushedRequestSeconds,
      ...(chainSeconds === undefined ? {} : { chainSeconds }),
      correlationId,
      events: [],
    });
    if (issue.outcome === 'claimed') throw new TypeError('A pushed request must not claim a name');
    const answer: PushedAnswer = {
      request_uri: requestUriOf(issue.ticket),
      expires_in: pushedRequestSeconds,
    };
    response.status(201).json(answer);
  };
}

/** Checks a request as the authorization endpoint does. @throws AuthorizeRefusal */
function assertPushable(form: URLSearchParams, realm: DesktopIssuingRealm): AuthorizationRequest {
  const read = readAuthorizationRequest(form, realm);
  // RFC 9126 section 2.1
  const nested = form.has('request_uri')
    ? [{ name: 'request_uri', code: 'invalid_request', message: 'must not be pushed' } as const]
    : [];
  const faults = [...nested, ...('faults' in read ? read.faults : [])];
  if ('faults' in read || faults.length > 0) throw new AuthorizeRefusal('faulty_parameters', faults);
  return read.request;
}

/**
 * Returns the live launch of the request, which only the authorization endpoint uses up. @throws
 * AuthorizeRefusal
 */
async function findLaunch(
  tickets: Tickets,
  { realm, asked }: { realm: DesktopIssuingRealm; asked: AuthorizationRequest },
): Promise<FoundTicket> {
  const found = await tickets.find('launch-identifier', asked.launch);
  if (found === undefined) throw new AuthorizeRefusal('unknown_launch');
  const launch = readLaunch(found);
  if (launch.realm !== realm.name || launch.clientId !== asked.partner.clientId)
    throw new AuthorizeRefusal('launch_of_other_client');
  return found;
}

/**
 * Returns the key of the request's DPoP proof, which must be the key that `dpop_jkt` names (RFC 9449 section
 * 10.1). @throws TokenRefusal
 */
async function agreeDpopKey(
  asked: AuthorizationRequest,
  exchange: Pick<DesktopExchange, 'realm' | 'request'> & { readonly parts: PushParts },
): Promise<string | undefined> {
  const proven = await readDpopKey({ ...exchange, endpoint: 'par' });
  if (proven !== undefined && asked.dpopKey !== undefined && proven !== asked.dpopKey)
    throw new TokenRefusal('invalid_dpop_proof', {
      message: 'The parameter dpop_jkt must be the thumbprint of the key of the DPoP proof',
    });
  return proven ?? asked.dpopKey;
}

/** Returns the parameters as they were sent, without credentials and unknown parameters. */
function pushedParameters(form: URLSearchParams, dpopKey: string | undefined): PushedParameters {
  const sent = authorizationParameters.flatMap((name) => {
    const value = form.get(name) ?? '';
    return value === '' ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(sent), ...(dpopKey === undefined ? {} : { dpop_jkt: dpopKey }) };
}
