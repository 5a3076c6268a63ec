import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import type { ClientCertificate } from './client-certificate.ts';
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
      jkt: Type.Optional(Type.String({ minLength: 1 })),
      'x5t#S256': Type.Optional(Type.String({ minLength: 1 })),
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
