import { sendJson, setHeaders } from '@clinical-launch/http/answer';
import type { Handler, RefusalAudit } from '@clinical-launch/http/exchange';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import { clientCertificateOf } from '@clinical-launch/trust/client-certificate';
import type { RequestHandler } from 'express';
import { isConfidential } from '../domain/client-certificates.ts';
import { TokenRefusal } from '../errors.ts';
import {
  type ClientGrant,
  type Grant,
  isOffered,
  type PartnerGrant,
  type TokenAnswer,
} from '../grants/grant.ts';
import { authenticateClient, type ClientAuthenticationParts } from './authenticate-client.ts';
import { authenticatePartner } from './authenticate-partner.ts';
import { clientParameters } from './client-credentials.ts';
import { type DirectRealmExchange, type Found, isDesktopRealm } from './door.ts';
import { readDpopProof } from './dpop.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

type RequestTokenParts = ClientAuthenticationParts & {
  readonly grants: readonly Grant[];
  readonly limiter: RateLimiter;
};

/** Of every answer with a token (RFC 6749 section 5.1). */
export const neverCachedHeaders = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** Prevents every answer of this endpoint from being cached (RFC 6749 section 5.1). */
export const neverCached: RequestHandler = (_request, response, next) => {
  setHeaders(response, neverCachedHeaders);
  next();
};

/** Issues tokens: `POST /{realm}/oauth2/v2.0/token` (RFC 6749 section 3.2). */
export function requestToken(parts: RequestTokenParts): Handler<DirectRealmExchange> {
  return async (exchange) => {
    const { request, response } = exchange;
    const form = await readTokenForm(request, response);
    const grant = chooseGrant(parts.grants, form);
    const parameters = pickParameters(form, [...clientParameters, ...grant.parameters]);
    const asked = { ...exchange, parts, parameters };
    sendJson(
      response,
      await (grant.clients === 'public' ? servePartner(grant, asked) : serveClient(grant, asked)),
    );
  };
}

type TokenExchange = DirectRealmExchange & {
  readonly parts: RequestTokenParts;
  readonly parameters: ReadonlyMap<string, string>;
};

function chooseGrant(grants: readonly Grant[], form: URLSearchParams): Grant {
  const type = pickParameters(form, ['grant_type']).get('grant_type');
  if (type === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'grant_type' });
  const grant = grants.find((one) => one.type === type);
  if (grant === undefined) throw new TokenRefusal('unsupported_grant_type');
  return grant;
}

async function serveClient(grant: ClientGrant, exchange: TokenExchange): Promise<TokenAnswer> {
  const { realm, parameters, call } = exchange;
  if (!isOffered(grant, realm)) throw new TokenRefusal('grant_not_offered');
  const { client, certificate, commit } = await authenticateClient(exchange);
  return grant.handle({ realm, client, certificate: certificate?.thumbprint, parameters, call, commit });
}

async function servePartner(grant: PartnerGrant, exchange: TokenExchange): Promise<TokenAnswer> {
  const { parts, realm, parameters, request, call } = exchange;
  if (!isDesktopRealm(realm)) throw new TokenRefusal('grant_not_offered');
  const partner = await authenticatePartner({ ...exchange, realm });
  const dpopProof = await readDpopProof({ ...exchange, realm, endpoint: 'token' });
  return grant.handle({
    realm,
    partner,
    dpopProof,
    certificate: clientCertificateOf(request, parts.clientCertificateHeader)?.thumbprint,
    parameters,
    call,
    // A partner that authenticated was counted then.
    count: (holder) =>
      isConfidential(holder)
        ? undefined
        : parts.limiter.count(`${realm.name} ${holder.clientId}`, holder.requestsPerSecond),
  });
}

/** Creates the audit event of a refused token request; none for a realm that does not exist. */
export const auditRefusal: RefusalAudit<Found> = (error, { call, found: { realm, clientId } }) => {
  if (realm === undefined) return undefined;
  const reason = error instanceof TokenRefusal ? error.reason : error.code;
  return call.event('access.token.refused.v1', {
    realm,
    ...(clientId === undefined ? {} : { clientId }),
    status: error.status,
    reason,
  });
};
