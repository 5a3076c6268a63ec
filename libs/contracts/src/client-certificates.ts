import { Type } from 'typebox';

/** How a client proves itself by the certificate of its TLS connection (RFC 8705 section 2). */
export const clientCertificates = {
  /** `tls_client_auth`: a name (SAN dNSName) in certificates of an authority that the edge verifies. */
  tlsClientAuthSanDns: Type.Optional(
    Type.String({
      pattern:
        '^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$',
      description: 'must be a host name, as client.example.org',
    }),
  ),
  /** `self_signed_tls_client_auth`: `x5t#S256` of its certificates, several so that one can be renewed. */
  tlsClientCertificateThumbprints: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: 'must be the SHA-256 of a certificate in Base64URL, 43 characters without padding',
      }),
      { minItems: 1, maxItems: 10 },
    ),
  ),
  /** Whether its access tokens are bound to its certificate (RFC 8705 section 3), which is then required. */
  tlsClientCertificateBoundAccessTokens: Type.Optional(Type.Boolean()),
};
