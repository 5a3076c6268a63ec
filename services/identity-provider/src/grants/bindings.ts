import type { RegisteredClient, RegisteredPartner } from '@clinical-launch/contracts/registry';
import type { SingleUse } from '@clinical-launch/tickets/tickets';
import { TokenRefusal } from '../errors.ts';

type Bound = Pick<RegisteredClient, 'tlsClientCertificateBoundAccessTokens'>;

/**
 * Returns the thumbprint of the certificate that the tokens of a client are bound to (RFC 8705 section 3).
 * Returns undefined if the client did not register for bound tokens.
 * @param presented the thumbprint of the connection's certificate
 * @throws TokenRefusal 400 if the client registered for bound tokens but presented no certificate
 */
export function certificateToBind(client: Bound, presented: string | undefined): string | undefined {
  if (client.tlsClientCertificateBoundAccessTokens !== true) return undefined;
  if (presented === undefined) throw new TokenRefusal('missing_certificate');
  return presented;
}

/**
 * Checks that the DPoP proof of a token request is signed with the key that the code or refresh token is
 * bound to. Also checks that a partner sends a DPoP proof if the registry requires DPoP (RFC 9449 sections 5
 * and 10). Keys are identified by their thumbprints (RFC 7638).
 * @throws TokenRefusal 400
 */
export function assertDpopKey(
  dpopKey: string | undefined,
  { partner, boundTo }: { partner: RegisteredPartner; boundTo: string | undefined },
): void {
  if (boundTo !== undefined && dpopKey !== boundTo) throw new TokenRefusal('ticket_of_other_key');
  if (partner.dpopBoundAccessTokens === true && dpopKey === undefined)
    throw new TokenRefusal('missing_dpop_proof');
}

/**
 * Returns the redemption option that uses up the DPoP proof. Returns an empty object if the request has no
 * proof.
 */
export const usingUp = (proof: SingleUse | undefined): { readonly proof?: SingleUse } =>
  proof === undefined ? {} : { proof };
