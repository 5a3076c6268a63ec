import type { RegisteredClient } from '@clinical-launch/contracts/registry';
import { TokenRefusal } from '../errors.ts';

type Bound = Pick<RegisteredClient, 'tlsClientCertificateBoundAccessTokens'>;

/**
 * Returns the thumbprint of the certificate that the tokens of a client are bound to (RFC 8705 section 3);
 * undefined if the client did not register for bound tokens.
 * @param presented the thumbprint of the connection's certificate
 * @throws TokenRefusal 400 when the client registered for bound tokens and presented no certificate
 */
export function certificateToBind(client: Bound, presented: string | undefined): string | undefined {
  if (client.tlsClientCertificateBoundAccessTokens !== true) return undefined;
  if (presented === undefined) throw new TokenRefusal('missing_certificate');
  return presented;
}
