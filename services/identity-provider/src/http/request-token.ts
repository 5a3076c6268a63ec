import { createEvent, type RegisteredClient } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import { type Call, type Clock, callOf, type RateLimiter, type ServiceError } from '@clinical-launch/service';
import type { Request, RequestHandler, Response } from 'express';
import { checkClientSecret } from '../domain/client-secrets.ts';
import type { IssuingRealm, Realms } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { eventSource } from '../event-source.ts';
import {
  type ClientGrant,
  type Grant,
  isOffered,
  type PartnerGrant,
  type TokenAnswer,
} from '../grants/grant.ts';
import { askerOf, noteClient } from './asker.ts';
import { type ClientCredentials, clientParameters, readClientCredentials } from './client-credentials.ts';
import { identifyPartner } from './partner-of-request.ts';
import { isDesktopRealm, type RealmParams, realmOfPath } from './realm-of-path.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

type RequestTokenParts = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly limiter: RateLimiter;
  readonly clock: Clock;
};

/** RFC 6749 section 5.1: no answer of this endpoint is kept, whatever it is. */
export const neverCached: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  next();
};

/** `POST /{realm}/oauth2/v2.0/token` (RFC 6749 section 3.2). */
export function requestToken(parts: RequestTokenParts): RequestHandler<RealmParams> {
  return async (request, response) => {
    const realm = realmOfPath(parts.realms, request.params);
    const form = await readTokenForm(request, response);
    const grant = chooseGrant(parts.grants, form, realm);
    const parameters = pickParameters(form, [...clientParameters, ...grant.parameters]);
    const exchange = { parts, realm, parameters, request, response };
    const answer = grant.clients === 'public' ? servePartner(grant, exchange) : serveClient(grant, exchange);
    response.json(await answer);
  };
}

type Exchange = {
  readonly parts: RequestTokenParts;
  readonly realm: IssuingRealm;
  readonly parameters: ReadonlyMap<string, string>;
  readonly request: Request<RealmParams>;
  readonly response: Response;
};

function chooseGrant(grants: readonly Grant[], form: URLSearchParams, realm: IssuingRealm): Grant {
  const type = pickParameters(form, ['grant_type']).get('grant_type');
  if (type === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'grant_type' });
  const grant = grants.find((one) => one.type === type);
  if (grant === undefined) throw new TokenRefusal('unsupported_grant_type');
  if (!isOffered(grant, realm)) throw new TokenRefusal('grant_not_offered');
  return grant;
}

async function serveClient(grant: ClientGrant, exchange: Exchange): Promise<TokenAnswer> {
  const { parts, realm, parameters, request, response } = exchange;
  const authorization = request.get('authorization');
  const credentials = readClientCredentials({ authorization, parameters, realm: realm.name });
  const client = authenticateClient({ credentials, realm, response, now: parts.clock.now() });
  // Only now: whoever knows no secret of a client cannot use up its limit.
  parts.limiter.count(`${realm.name} ${client.clientId}`, client.requestsPerSecond);
  return grant.handle({ realm, client, parameters, call: callOf(response) });
}

async function servePartner(grant: PartnerGrant, exchange: Exchange): Promise<TokenAnswer> {
  const { parts, realm, parameters, request, response } = exchange;
  if (!isDesktopRealm(realm)) throw new TokenRefusal('grant_not_offered');
  const partner = identifyPartner({ realm, parameters, authorization: request.get('authorization') });
  noteClient(response, partner);
  return grant.handle({
    realm,
    partner,
    parameters,
    call: callOf(response),
    count: ({ clientId, requestsPerSecond }) =>
      parts.limiter.count(`${realm.name} ${clientId}`, requestsPerSecond),
  });
}

function authenticateClient({
  credentials: { clientId, clientSecret, challenge },
  realm,
  response,
  now,
}: {
  credentials: ClientCredentials;
  realm: IssuingRealm;
  response: Response;
  now: number;
}): RegisteredClient {
  const client = realm.clients.get(clientId);
  const check = checkClientSecret(client, clientSecret, now);
  if (client === undefined) throw new TokenRefusal('unknown_client', { headers: challenge });
  noteClient(response, client);
  switch (check) {
    case 'accepted':
      return client;
    case 'expired':
      throw new TokenRefusal('expired_secret', { headers: challenge });
    case 'wrong':
      throw new TokenRefusal('wrong_secret', { headers: challenge });
  }
}

/** Writes the audit event of a token that was not given; none for a realm that does not exist. */
export function auditRefusal(events: Outbox) {
  return async (error: ServiceError, call: Call, response: Response): Promise<void> => {
    const asker = askerOf(response);
    if (asker === undefined) return;
    const reason = error instanceof TokenRefusal ? error.reason : error.code;
    const data = { ...asker, status: error.status, reason };
    await events.append([createEvent('access.token.refused.v1', call.origin(eventSource), data)]);
  };
}
