import { createEvent } from '@clinical-launch/contracts';
import { callOf, type RateLimiter, type RefusalAudit } from '@clinical-launch/service/http';
import { clientCertificateOf } from '@clinical-launch/service/trust';
import type { Request, RequestHandler, Response } from 'express';
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
import { askerOf } from './asker.ts';
import { authenticateClient, type ClientAuthenticationParts } from './authenticate-client.ts';
import { authenticatePartner } from './authenticate-partner.ts';
import { clientParameters } from './client-credentials.ts';
import { readDpopKey } from './dpop.ts';
import { isDesktopRealm, type RealmParams, realmOfPath } from './realm-of-path.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

type RequestTokenParts = ClientAuthenticationParts & {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly limiter: RateLimiter;
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
  const { realm, parameters, response } = exchange;
  const { client, certificate, commit } = await authenticateClient(exchange);
  return grant.handle({
    realm,
    client,
    certificate: certificate?.thumbprint,
    parameters,
    call: callOf(response),
    commit,
  });
}

async function servePartner(grant: PartnerGrant, exchange: Exchange): Promise<TokenAnswer> {
  const { parts, realm, parameters, request, response } = exchange;
  if (!isDesktopRealm(realm)) throw new TokenRefusal('grant_not_offered');
  const partner = await authenticatePartner({ ...exchange, realm });
  const dpopKey = await readDpopKey({ ...exchange, realm, endpoint: 'token' });
  return grant.handle({
    realm,
    partner,
    dpopKey,
    certificate: clientCertificateOf(request, parts.clientCertificateHeader)?.thumbprint,
    parameters,
    call: callOf(response),
    count: ({ clientId, requestsPerSecond }) =>
      parts.limiter.count(`${realm.name} ${clientId}`, requestsPerSecond),
  });
}

/** Makes the audit event of a token that was not given; none for a realm that does not exist. */
export const auditRefusal: RefusalAudit = (error, call, response) => {
  const asker = askerOf(response);
  if (asker === undefined) return undefined;
  const reason = error instanceof TokenRefusal ? error.reason : error.code;
  const data = { ...asker, status: error.status, reason };
  return createEvent('access.token.refused.v1', call.origin(eventSource), data);
};
