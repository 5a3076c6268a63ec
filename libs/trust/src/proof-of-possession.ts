import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import { type DpopProof, type ProvenRequest, verifyDpopProof } from './dpop-proof.ts';
import { invalidToken, type TokenReason, unauthorized } from './invalid-token.ts';

/** The proofs of possession that were sent with an access token, in case the token is bound (RFC 7800). */
export type Possession = {
  /** The header `DPoP` and the request that the proof must be for. Absent if DPoP is not accepted. */
  readonly dpop?: { readonly header: string | undefined } & Omit<ProvenRequest, 'token'>;
  /**
   * Returns the certificate of the connection. Called only for a token that is bound to a certificate (RFC
   * 8705).
   */
  readonly clientCertificate?: () => Pick<ClientCertificate, 'thumbprint'> | undefined;
};

/** An access token as it was sent. */
export type PresentedToken = { readonly scheme: 'bearer' | 'dpop'; readonly token: string };

const confirmation = compileSchema(
  Type.Object(
    {
      jkt: optionalText({ minLength: 1 }),
      'x5t#S256': optionalText({ minLength: 1 }),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
);

/** The challenge for clients that use DPoP (RFC 9449 section 7.1). */
export const dpopChallenge = `DPoP algs="${asymmetricAlgorithms.join(' ')}"`;

/**
 * Checks that the sender of a verified token holds the key or the certificate to which the token is bound.
 * Never accepts a key-bound token as a Bearer token, nor a token with an unknown binding.
 * @returns the DPoP proof, or undefined for a token that is not bound to a key. The caller must claim the
 * `name` of the proof before it serves the request
 * @throws ServiceError 401
 */
export async function provePossession(
  { scheme, token }: PresentedToken,
  { cnf, possession, now }: { cnf: unknown; possession: Possession; now: number },
): Promise<DpopProof | undefined> {
  if (cnf === undefined && scheme === 'bearer') return undefined;
  if (cnf === undefined) throw invalidDpop('the token is not bound to a key: send it as Bearer');
  if (!confirmation.is(cnf)) throw uncheckable();
  const { jkt, 'x5t#S256': certificate } = cnf;
  if (certificate !== undefined) assertSameCertificate(certificate, possession);
  if (jkt === undefined && scheme === 'bearer') return undefined;
  if (jkt === undefined) throw invalidDpop('the token is bound only to a certificate: send it as Bearer');
  const { dpop } = possession;
  if (dpop === undefined) throw uncheckable();
  if (scheme === 'bearer') throw invalidDpop('the token is bound to a key: send it as DPoP, with a proof');
  if (dpop.header === undefined) throw invalidProof('The header DPoP is missing');
  const proof = await verifyDpopProof(dpop.header, { ...dpop, token }, now);
  if ('fault' in proof) throw invalidProof(proof.fault);
  if (proof.thumbprint !== jkt)
    throw invalidProof('The DPoP proof must be signed by the key that the token is bound to');
  return proof;
}

/** Checks the certificate to which a token is bound (RFC 8705 section 3). @throws ServiceError 401 */
function assertSameCertificate(thumbprint: string, { clientCertificate }: Possession): void {
  const presented = clientCertificate?.();
  if (presented === undefined)
    throw invalidToken('the token is bound to a certificate: connect by TLS with that certificate');
  if (presented.thumbprint !== thumbprint)
    throw invalidToken('the token is bound to a different certificate than this connection uses');
}

const uncheckable = () => invalidToken('the token is bound to a key, which this endpoint cannot check');

/** Creates the error 401 for a refused DPoP proof (RFC 9449 section 7.1). */
export function invalidProof(reason: string) {
  const methods = dpopChallenge.slice('DPoP '.length);
  return unauthorized(reason, {
    code: 'invalid_dpop_proof',
    challenge: `DPoP error="invalid_dpop_proof", ${methods}, error_description="${reason}"`,
  });
}

function invalidDpop(reason: TokenReason) {
  return invalidToken(reason, {
    challenge: `DPoP error="invalid_token", ${dpopChallenge.slice('DPoP '.length)}`,
  });
}

export const certificateHeaderSettings = Type.Object({
  CLIENT_CERTIFICATE_HEADER: optionalText({
    pattern: '^[A-Za-z0-9-]+$',
    description: 'must be the name of a header, such as Client-Cert',
    title:
      'The header in which the edge forwards client certificates (RFC 9440). Without it, certificates are ignored. Behind our edge: `Client-Cert`.',
  }),
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

type CertificateSubject = {
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
