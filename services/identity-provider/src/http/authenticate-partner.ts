import type { RegisteredPartner } from '@clinical-launch/contracts';
import { authorizationOf } from '@clinical-launch/service/http';
import { clientCertificateOf } from '@clinical-launch/service/trust';
import { hasCertificates, isCertificateOf, isConfidential } from '../domain/client-certificates.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { type ClientAuthenticationParts, useUp } from './authenticate-client.ts';
import { authenticateByAssertion, readClientAssertion } from './client-assertion.ts';
import type { DirectRealmExchange } from './door.ts';

type PartnerExchange = Pick<DirectRealmExchange<DesktopIssuingRealm>, 'realm' | 'request' | 'found'> & {
  readonly parts: ClientAuthenticationParts;
  readonly parameters: ReadonlyMap<string, string>;
};

/**
 * Returns the partner application that sent a request; undefined if the request names none. A partner without
 * keys and certificates is a public client, proven by the ticket that it holds. Its credentials are refused,
 * because nothing can check them. A partner that registered keys or certificates must authenticate: with an
 * assertion, which is used up here, or by mutual TLS.
 * @throws TokenRefusal
 */
export async function authenticatePartner({
  parts,
  realm,
  parameters,
  request,
  found,
}: PartnerExchange): Promise<RegisteredPartner | undefined> {
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
    if (isCertificateOf(partner, certificate, parts.clock.now())) return partner;
    throw new TokenRefusal('wrong_certificate');
  }
  if (isConfidential(partner)) throw new TokenRefusal('no_authentication');
  return partner;
}
