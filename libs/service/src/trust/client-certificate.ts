import { createHash, X509Certificate } from 'node:crypto';
import type { Request } from 'express';
import { Type } from 'typebox';
import { type Environment, readEnvironment } from '../environment.ts';

const schema = Type.Object({
  CLIENT_CERTIFICATE_HEADER: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9-]+$', description: 'must be the name of a header, as Client-Cert' }),
  ),
});

/**
 * Reads `CLIENT_CERTIFICATE_HEADER`: the header in which the edge forwards client certificates. When it is unset, no
 * header counts, whoever sent it. @throws ConfigurationError
 */
export function readClientCertificateHeader(environment: Environment): string | undefined {
  return readEnvironment(schema, environment).CLIENT_CERTIFICATE_HEADER;
}

/** The certificate of the TLS connection that a request came by, as the edge forwarded it. */
export type ClientCertificate = {
  /** SHA-256 of its DER, in Base64URL (RFC 8705 section 3.1). */
  readonly thumbprint: string;
  /** Parses it; undefined for what cannot be parsed. */
  readonly subject: () => CertificateSubject | undefined;
  /** Whether the edge verified that a certificate authority of the operator's list issued it. */
  readonly isVerified: boolean;
};

/** A byte sequence (RFC 9440 section 2.1), with a parameter (RFC 9651 section 3.1.2) where the chain was verified. */
const form = /^:([A-Za-z0-9+/]+={0,2}):(;verified)?$/;

/**
 * Returns the certificate of a request's connection, where the edge forwarded one.
 * @param header the value of `CLIENT_CERTIFICATE_HEADER`; without one, nothing that was sent counts
 */
export function clientCertificateOf(
  request: Pick<Request, 'headers'>,
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

/** What of a certificate decides whether it authenticates a client. */
export type CertificateSubject = {
  /** Whether it has this subject alternative name of the type dNSName, character for character but for case. */
  hasDnsName(name: string): boolean;
  /** Whether it is valid at a moment. @param now milliseconds since 1970 */
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
