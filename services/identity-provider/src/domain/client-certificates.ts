import type { RegisteredClient } from '@clinical-launch/contracts/registry';
import type { ClientCertificate } from '@clinical-launch/trust/proof-of-possession';
import { hasKeys } from './client-assertion.ts';

type Registered = Pick<
  RegisteredClient,
  | 'jwks'
  | 'jwksUri'
  | 'tlsClientAuthSanDns'
  | 'tlsClientCertificateThumbprints'
  | 'tlsClientCertificateBoundAccessTokens'
>;

/** Returns whether a client or partner has registered a certificate for mutual TLS. */
export function hasCertificates(client: Registered): boolean {
  return client.tlsClientAuthSanDns !== undefined || client.tlsClientCertificateThumbprints !== undefined;
}

/**
 * Returns whether a partner has registered keys or certificates. If so, it must authenticate, because it is
 * not a public client (RFC 6749 section 2.1).
 */
export function isConfidential(partner: Registered): boolean {
  return hasKeys(partner) || hasCertificates(partner);
}

/**
 * Returns whether a certificate belongs to a client (RFC 8705 section 2). Either its thumbprint is
 * registered, or it contains the registered name and the edge verified its issuer. An expired certificate is
 * refused even if the edge verified it.
 * @param now milliseconds since 1970
 */
export function isCertificateOf(client: Registered, certificate: ClientCertificate, now: number): boolean {
  const { tlsClientAuthSanDns: name, tlsClientCertificateThumbprints: thumbprints = [] } = client;
  const subject = certificate.subject();
  if (subject?.isCurrent(now) !== true) return false;
  if (thumbprints.includes(certificate.thumbprint)) return true;
  return name !== undefined && certificate.isVerified && subject.hasDnsName(name);
}
