import { createEvent, type RegisteredClient } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import { type Call, type Clock, callOf, type RateLimiter, type ServiceError } from '@clinical-launch/service';
import type { RequestHandler, Response } from 'express';
import { checkClientSecret } from '../domain/client-secrets.ts';
import type { IssuingRealm, Realms } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { eventSource } from '../event-source.ts';
import type { Grant } from '../grants/grant.ts';
import { type ClientCredentials, clientParameters, readClientCredentials } from './client-credentials.ts';
import { type RealmParams, realmOfPath } from './realm-of-path.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

type RequestTokenParts = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly limiter: RateLimiter;
  readonly clock: Clock;
};

/** Who asks, as far as it is known yet; for the audit event of a refusal. Names of the registry, not of the request. */
type Asker = { readonly realm: string; clientId?: string };

/** RFC 6749 section 5.1: no answer of this endpoint is kept, whatever it is. */
export const neverCached: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  next();
};

/** Refuses a realm that is not registered before anything else is looked at, and notes it for the audit trail. */
export function identifyRealm(realms: Realms): RequestHandler<RealmParams> {
  return (request, response, next) => {
    const asker: Asker = { realm: realmOfPath(realms, request.params).name };
    response.locals.asker = asker;
    next();
  };
}

/** `POST /{realm}/oauth2/v2.0/token` (RFC 6749 section 3.2). */
export function requestToken(parts: RequestTokenParts): RequestHandler<RealmParams> {
  const grants = new Map(parts.grants.map((grant) => [grant.type, grant]));
  return async (request, response) => {
    const realm = realmOfPath(parts.realms, request.params);
    const form = await readTokenForm(request, response);
    const grant = chooseGrant(grants, form);
    const parameters = pickParameters(form, [...clientParameters, ...grant.parameters]);
    const authorization = request.get('authorization');
    const credentials = readClientCredentials({ authorization, parameters, realm: realm.name });
    const client = authenticateClient({ credentials, realm, response, now: parts.clock.now() });
    // Only now: whoever knows no secret of a client cannot use up its limit.
    parts.limiter.count(`${realm.name} ${client.clientId}`, client.requestsPerSecond);
    response.json(await grant.handle({ realm, client, parameters, call: callOf(response) }));
  };
}

function chooseGrant(grants: ReadonlyMap<string, Grant>, form: URLSearchParams): Grant {
  const type = pickParameters(form, ['grant_type']).get('grant_type');
  if (type === undefined) throw new TokenRefusal('missing_grant_type');
  const grant = grants.get(type);
  if (grant === undefined) throw new TokenRefusal('unsupported_grant_type');
  return grant;
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
  const asker: Asker | undefined = response.locals.asker;
  if (asker !== undefined) asker.clientId = client.clientId;
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
    const asker: Asker | undefined = response.locals.asker;
    if (asker === undefined) return;
    const reason = error instanceof TokenRefusal ? error.reason : error.code;
    const data = { ...asker, status: error.status, reason };
    await events.append([createEvent('access.token.refused.v1', call.origin(eventSource), data)]);
  };
}
