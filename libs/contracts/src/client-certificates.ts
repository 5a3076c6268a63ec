import { Type } from './type.ts';
import { certificateThumbprint, hostName } from './words.ts';

/** How a client authenticates with the certificate of its TLS connection (RFC 8705 section 2). */
export const clientCertificates = {
  /** `tls_client_auth`: a name (SAN dNSName) in certificates of an authority that the edge verifies. */
  tlsClientAuthSanDns: Type.Optional(hostName),
  /** `self_signed_tls_client_auth`: `x5t#S256` of its certificates, several so that one can be renewed. */
  tlsClientCertificateThumbprints: Type.Optional(
    Type.Array(certificateThumbprint, { minItems: 1, maxItems: 10 }),
  ),
  /**
   * Whether its access tokens are bound to its certificate (RFC 8705 section 3). The certificate is then
   * required.
   */
  tlsClientCertificateBoundAccessTokens: Type.Optional(Type.Boolean()),
};
