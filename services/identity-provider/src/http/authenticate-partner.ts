import type { RegisteredPartner } from '@clinical-launch/contracts/registry';
import { authorizationOf } from '@clinical-launch/http/request-target';
import { clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import { hasCertificates, isCertificateOf, isConfidential } from '../domain/client-certificates.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { type SenderDependencies, useUp } from './authenticate-client.ts';
import { authenticateByAssertion, readClientAssertion } from './client-assertion.ts';
import type { DesktopExchange, FormExchange, NamedExchange } from './realm-guards.ts';

/** A request of a partner application. `partner` is undefined if the request contains no `client_id`. */
export type PartnerExchange = NamedExchange<DesktopIssuingRealm> & {
  readonly partner: RegisteredPartner | undefined;
};

/**
 * Creates the guard that finds the partner application that sent a request. A partner without registered keys
 * or certificates is a public client, which authenticates only by the launch identifier, code or refresh
 * token that it sends. The guard refuses any credentials of a public client. A partner with registered keys
 * or certificates must authenticate by mutual TLS, or by an assertion, which the guard uses up. The guard
 * counts the request of an authenticated partner. It throws TokenRefusal for invalid credentials, and
 * ServiceError 429 if the partner exceeds its rate limit.
 */
export function authenticatePartner(dependencies: SenderDependencies) {
  return async <In extends FormExchange<DesktopIssuingRealm>>(
    exchange: In,
  ): Promise<In & PartnerExchange> => {
    const partner = await findPartner(dependencies, exchange);
    return { ...exchange, partner, clientId: partner?.clientId };
  };
}

async function findPartner(
  dependencies: SenderDependencies,
  exchange: FormExchange<DesktopIssuingRealm>,
): Promise<RegisteredPartner | undefined> {
  const { realm, parameters, request } = exchange;
  const authorization = authorizationOf(request);
  const { partners: registered } = realm.desktop;
  const clientId = parameters.get('client_id');
  const assertion = readClientAssertion({ authorization, parameters });
  if (assertion !== undefined) {
    const { client, singleUse } = await authenticateByAssertion({
      assertion,
      realm,
      kind: 'partner',
      registered,
      findKeys: dependencies.findClientKeys,
      clientId,
      now: dependencies.clock.now(),
    });
    await countAuthenticated(client, dependencies, exchange);
    await useUp(dependencies.once, singleUse, [], client.clientId);
    return client;
  }
  if (authorization !== undefined || parameters.has('client_secret')) {
    throw new TokenRefusal('partner_with_secret');
  }
  if (clientId === undefined) return undefined;
  const partner = registered.get(clientId);
  if (partner === undefined) throw new TokenRefusal('unknown_partner');
  const certificate = clientCertificateOf(request, dependencies.clientCertificateHeader);
  if (certificate !== undefined && hasCertificates(partner)) {
    if (!isCertificateOf(partner, certificate, dependencies.clock.now()))
      throw new TokenRefusal('wrong_certificate', { clientId });
    await countAuthenticated(partner, dependencies, exchange);
    return partner;
  }
  if (isConfidential(partner)) throw new TokenRefusal('no_authentication', { clientId });
  return partner;
}

/**
 * Records an authenticated partner as the caller, and counts its request. A request of a public partner is
 * counted when its launch identifier, code or refresh token is valid.
 */
async function countAuthenticated(
  { clientId, requestsPerSecond }: RegisteredPartner,
  { limiter }: SenderDependencies,
  { realm, call }: DesktopExchange,
): Promise<void> {
  call.identify(`partner ${realm.issuer} ${clientId}`, clientId);
  await limiter.count(`${realm.name} ${clientId}`, requestsPerSecond);
}
