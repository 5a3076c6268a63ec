import type { RegisteredPartner } from '@clinical-launch/contracts/registry';
import { authorizationOf } from '@clinical-launch/http/request-target';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import { clientCertificateOf } from '@clinical-launch/trust/client-certificate';
import { hasCertificates, isCertificateOf, isConfidential } from '../domain/client-certificates.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { type ClientAuthenticationParts, useUp } from './authenticate-client.ts';
import { authenticateByAssertion, readClientAssertion } from './client-assertion.ts';
import type { DirectRealmExchange } from './door.ts';

type PartnerExchange = Pick<
  DirectRealmExchange<DesktopIssuingRealm>,
  'realm' | 'request' | 'call' | 'found'
> & {
  readonly parts: ClientAuthenticationParts & { readonly limiter: RateLimiter };
  readonly parameters: ReadonlyMap<string, string>;
};

/**
 * Returns the partner application that sent a request; undefined if the request names none. A partner without
 * keys and certificates is a public client, proven by the ticket that it holds. Its credentials are refused,
 * because nothing can check them. A partner that registered keys or certificates must authenticate: with an
 * assertion, which is used up here, or by mutual TLS. Its request is counted here, and its refusals are its
 * own.
 * @throws TokenRefusal, and ServiceError 429 beyond the limit of a partner that has authenticated
 */
export async function authenticatePartner(exchange: PartnerExchange): Promise<RegisteredPartner | undefined> {
  const { parts, realm, parameters, request, found } = exchange;
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
      findKeys: parts.findClientKeys,
      clientId,
      found,
      now: parts.clock.now(),
    });
    await countAuthenticated(client, exchange);
    await useUp(parts.tickets, singleUse, []);
    return client;
  }
  if (authorization !== undefined || parameters.has('client_secret')) {
    throw new TokenRefusal('partner_with_secret');
  }
  if (clientId === undefined) return undefined;
  const partner = registered.get(clientId);
  if (partner === undefined) throw new TokenRefusal('unknown_partner');
  found.clientId = partner.clientId;
  const certificate = clientCertificateOf(request, parts.clientCertificateHeader);
  if (certificate !== undefined && hasCertificates(partner)) {
    if (!isCertificateOf(partner, certificate, parts.clock.now()))
      throw new TokenRefusal('wrong_certificate');
    await countAuthenticated(partner, exchange);
    return partner;
  }
  if (isConfidential(partner)) throw new TokenRefusal('no_authentication');
  return partner;
}

/** Names the caller, and counts its request: a public partner is counted once it has shown a live ticket. */
async function countAuthenticated(
  { clientId, requestsPerSecond }: RegisteredPartner,
  { parts, realm, call }: Pick<PartnerExchange, 'parts' | 'realm' | 'call'>,
): Promise<void> {
  call.identify(`partner ${realm.issuer} ${clientId}`, clientId);
  await parts.limiter.count(`${realm.name} ${clientId}`, requestsPerSecond);
}
