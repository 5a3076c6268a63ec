import { Type } from './type.ts';
import { certificateThumbprint, hostName } from './words.ts';

/** How a client authenticates with the certificate of its TLS connection (RFC 8705 section 2). */
export const clientCertificates = {
  /** A SAN dNSName in certificates of an authority that the edge verifies. */
  tlsClientAuthSanDns: Type.Optional({
    ...hostName,
    title: 'Host name in its TLS certificates, instead of a secret (tls_client_auth)',
  }),
  /** `x5t#S256`, several so that one can be renewed. */
  tlsClientCertificateThumbprints: Type.Optional(
    Type.Array(certificateThumbprint, {
      minItems: 1,
      maxItems: 10,
      title: 'SHA-256 of its TLS certificates, instead of a secret (self_signed_tls_client_auth)',
    }),
  ),
  /** RFC 8705 section 3. The certificate is then required. */
  tlsClientCertificateBoundAccessTokens: Type.Optional(
    Type.Boolean({ title: 'Whether its access tokens are bound to its certificate (RFC 8705)' }),
  ),
};
