import { sendJson } from '@clinical-launch/http/answer';
import { behind, type Handler, type RefusalAudit } from '@clinical-launch/http/endpoint';
import { clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import { isConfidential } from '../domain/client-certificates.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { type ClientGrant, type Grant, isOffered, type PartnerGrant } from '../grants/grant.ts';
import { authenticateClient, clientParameters, type SenderDependencies } from './authenticate-client.ts';
import { authenticatePartner } from './authenticate-partner.ts';
import { readDpopProof } from './dpop.ts';
import {
  type FormExchange,
  isDesktopRealm,
  type NamedExchange,
  pickParameters,
  type RealmExchange,
  readTokenForm,
  senderOf,
} from './realm-guards.ts';

type RequestTokenDependencies = SenderDependencies & { readonly grants: readonly Grant[] };

/** The headers of every answer with a token (RFC 6749 section 5.1). */
export const neverCached = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** Issues tokens: `POST /{realm}/oauth2/v2.0/token` (RFC 6749 section 3.2). */
export function requestToken(dependencies: RequestTokenDependencies): Handler<RealmExchange> {
  const serveClient = createClientHandler(dependencies);
  const servePartner = createPartnerHandler(dependencies);
  return async (exchange) => {
    const form = await readTokenForm(exchange);
    const grant = chooseGrant(dependencies.grants, form);
    const { realm } = exchange;
    const parameters = pickParameters(form, [...clientParameters, ...grant.parameters]);
    if (grant.clients === 'public') {
      if (!isDesktopRealm(realm)) throw new TokenRefusal('grant_not_offered');
      return servePartner({ ...exchange, realm, parameters, grant });
    }
    if (!isOffered(grant, realm)) throw new TokenRefusal('grant_not_offered');
    return serveClient({ ...exchange, parameters, grant });
  };
}

function chooseGrant(grants: readonly Grant[], form: URLSearchParams): Grant {
  const type = pickParameters(form, ['grant_type']).get('grant_type');
  if (type === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'grant_type' });
  const grant = grants.find((one) => one.type === type);
  if (grant === undefined) throw new TokenRefusal('unsupported_grant_type');
  return grant;
}

type ClientGrantExchange = FormExchange & { readonly grant: ClientGrant };

function createClientHandler(dependencies: RequestTokenDependencies): Handler<ClientGrantExchange> {
  return behind(
    authenticateClient(dependencies)<ClientGrantExchange>,
    async ({ grant, realm, client, certificate, parameters, call, commit, response }) => {
      const thumbprint = certificate?.thumbprint;
      sendJson(
        response,
        await grant.handle({ realm, client, certificate: thumbprint, parameters, call, commit }),
      );
    },
  );
}

type PartnerGrantExchange = FormExchange<DesktopIssuingRealm> & { readonly grant: PartnerGrant };

function createPartnerHandler(dependencies: RequestTokenDependencies): Handler<PartnerGrantExchange> {
  return behind(authenticatePartner(dependencies)<PartnerGrantExchange>, async (exchange) => {
    const { grant, realm, partner, request, response, parameters, call } = exchange;
    const dpopProof = await readDpopProof({ dependencies, realm, request, endpoint: 'token' });
    const answer = await grant.handle({
      realm,
      partner,
      dpopProof,
      certificate: clientCertificateOf(request, dependencies.clientCertificateHeader)?.thumbprint,
      parameters,
      call,
      // The request of an authenticated partner has already been counted towards its rate limit.
      count: (holder) =>
        isConfidential(holder)
          ? undefined
          : dependencies.limiter.count(`${realm.name} ${holder.clientId}`, holder.requestsPerSecond),
    });
    sendJson(response, answer);
  });
}

/** Creates the audit event of a refused token request. Creates no event if the realm does not exist. */
export const auditRefusal: RefusalAudit<NamedExchange> = (error, exchange) => {
  const { call, realm } = exchange;
  if (realm === undefined) return undefined;
  return call.event('access.token.refused.v1', {
    realm: realm.name,
    ...senderOf(error, exchange),
    status: error.status,
    reason: error instanceof TokenRefusal ? error.reason : error.code,
  });
};
