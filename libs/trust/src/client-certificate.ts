import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';

export const certificateHeaderSettings = Type.Object({
  CLIENT_CERTIFICATE_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      description: 'must be the name of a header, such as Client-Cert',
      title:
        'The header in which the edge forwards client certificates (RFC 9440). Without it, certificates are ignored. Behind our edge: `Client-Cert`.',
    }),
  ),
});

/**
 * Reads `CLIENT_CERTIFICATE_HEADER`: the header in which the edge forwards client certificates. If the
 * setting is missing, every such header is ignored. @throws ConfigurationError
 */
export function readClientCertificateHeader(environment: Environment): string | undefined {
  return readEnvironment(certificateHeaderSettings, environment).CLIENT_CERTIFICATE_HEADER;
}

/** The certificate of a request's TLS connection, as the edge forwarded it. */
export type ClientCertificate = {
  /** The SHA-256 of the certificate in DER, in Base64URL (RFC 8705 section 3.1). */
  readonly thumbprint: string;
  /** Parses the certificate. Returns undefined if the certificate cannot be parsed. */
  readonly subject: () => CertificateSubject | undefined;
  /** Whether the edge verified that a certificate authority on the operator's list issued the certificate. */
  readonly isVerified: boolean;
};

/**
 * The form of the header: a byte sequence (RFC 9440 section 2.1), with a parameter (RFC 9651 section 3.1.2)
 * if the edge verified the certificate chain.
 */
const form = /^:([A-Za-z0-9+/]+={0,2}):(;verified)?$/;

/**
 * Returns the client certificate of a request's connection, if the edge forwarded a certificate.
 * @param header the value of `CLIENT_CERTIFICATE_HEADER`. If it is undefined, every header is ignored
 */
export function clientCertificateOf(
  request: Pick<IncomingMessage, 'headers'>,
  header: string | undefined,
): ClientCertificate | undefined {
  const sent = header === undefined ? undefined : request.headers[header.toLowerCase()];
  const [, encoded, verified] = typeof sent === 'string' ? (form.exec(sent) ?? []) : [];
  if (encoded === undefined) return undefined;
  const der = Buffer.from(encoded, 'base64');
  return {
    subject: () => subjectOf(der),
    thumbprint: createHash('sha256').update(der).digest('base64url'),
    isVerified: verified !== undefined,
  };
}

export type CertificateSubject = {
  /** Returns whether the certificate has this subject alternative name of the type dNSName, ignoring case. */
  hasDnsName(name: string): boolean;
  /** Returns whether the certificate is valid at a time. @param now milliseconds since 1970 */
  isCurrent(now: number): boolean;
};

function subjectOf(der: Buffer): CertificateSubject | undefined {
  try {
    const certificate = new X509Certificate(der);
    const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    return {
      hasDnsName: (name) => certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined,
      isCurrent: (now) => from <= now && now <= to,
    };
  } catch {
    return undefined;
  }
}
