import { createHash } from 'node:crypto';
import { asymmetricAlgorithms, minRsaBits } from '@clinical-launch/contracts/client-authentication';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { bothTimes } from '@clinical-launch/contracts/time';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  EmbeddedJWK,
  errors,
  type JWK,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';

/**
 * The maximum difference between the `iat` of a proof and our clock, in seconds. It is small, because a proof
 * is created for one request.
 */
const acceptedAgeSeconds = 60;

/** The request for which a proof must have been created. */
export type ProvenRequest = {
  readonly method: string;
  /**
   * The address of the request as the client sent it, below `PUBLIC_URL`. A proxy may change the address that
   * the service receives.
   */
  readonly url: string;
  readonly token?: string;
};

/** A verified proof. */
export type DpopProof = {
  /** The SHA-256 thumbprint of the key of the proof (RFC 7638), as in `cnf.jkt`. */
  readonly thumbprint: string;
  /** The name under which the proof must be claimed in the ticket store, so that it counts only once. */
  readonly name: string;
  /** The seconds for which the proof could be replayed. */
  readonly forSeconds: number;
};

const claimsForm = compileSchema(
  Type.Object({
    jti: Type.String({ minLength: 1, maxLength: 200 }),
    htm: Type.String(),
    htu: Type.String(),
    iat: Type.Number(),
    ath: optionalText(),
  }),
);

/**
 * Verifies a DPoP proof (RFC 9449 section 4.3). Does not check that the proof is used only once: the caller
 * claims `name` in a store for that.
 * @param now milliseconds since 1970
 * @returns the proof, or its fault as a sentence for the developer of the client
 */
export async function verifyDpopProof(
  proof: string,
  request: ProvenRequest,
  now: number,
): Promise<DpopProof | { readonly fault: string }> {
  const read = await readProof(proof, now);
  if ('fault' in read) return read;
  const { payload: claims, protectedHeader } = read;
  if (!claimsForm.is(claims)) return { fault: 'The DPoP proof must have the claims jti, htm, htu and iat' };
  const fault = claimsFault(claims, request, now);
  if (fault !== undefined) return { fault };
  const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? {});
  return {
    thumbprint,
    name: `dpop-proof ${thumbprint} ${claims.jti}`,
    forSeconds: claims.iat + acceptedAgeSeconds - now / 1000 + 1,
  };
}

/**
 * Checks the signature with the key in the proof itself. jose refuses a private key. Checks the key first,
 * because the caller chooses it, and a large exponent or modulus makes verification expensive.
 */
async function readProof(proof: string, now: number): Promise<JWTVerifyResult | { readonly fault: string }> {
  const fault = keyFault(keyIn(proof));
  if (fault !== undefined) return { fault };
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      algorithms: asymmetricAlgorithms,
      typ: 'dpop+jwt',
      clockTolerance: acceptedAgeSeconds,
      currentDate: new Date(now),
    });
  } catch (error) {
    // jose throws a TypeError or a DOMException for a key that is too short or is not a point of its curve.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return { fault: 'The DPoP proof must be one JWT of the type dpop+jwt, signed by the key in its jwk' };
    throw error;
  }
}

function keyIn(proof: string): JWK | undefined {
  try {
    return decodeProtectedHeader(proof).jwk;
  } catch {
    // The verification that follows reports the fault.
    return undefined;
  }
}

/** The exponent 65537, which common generators of RSA keys use. */
const rsaExponent = 'AQAB';
const maxRsaBits = 4096;

/**
 * Returns the fault of a key whose signatures are weak or expensive to verify. Returns undefined for other
 * keys.
 */
function keyFault({ kty, e, n }: JWK = {}): string | undefined {
  if (kty !== 'RSA') return undefined;
  const bits = typeof n === 'string' ? bitsOf(n) : 0;
  if (e === rsaExponent && bits >= minRsaBits && bits <= maxRsaBits) return undefined;
  return 'The RSA key of the DPoP proof must have the exponent 65537 and a modulus of 2,048 to 4,096 bits';
}

/** Returns the number of bits of an integer in Base64URL (RFC 7518 section 6.3.1.1). */
function bitsOf(integer: string): number {
  const bytes = Buffer.from(integer, 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes.readUInt8(first)) + 24;
}

function claimsFault(
  { htm, htu, iat, ath }: { htm: string; htu: string; iat: number; ath?: string },
  { method, url, token }: ProvenRequest,
  now: number,
): string | undefined {
  if (htm !== method) return 'The claim htm of the DPoP proof must be the method of the request';
  if (addressOf(htu) !== addressOf(url))
    return 'The claim htu of the DPoP proof must be the address of the request, without its query';
  if (!(Math.abs(now / 1000 - iat) <= acceptedAgeSeconds))
    return `The claim iat of the DPoP proof must be within ${acceptedAgeSeconds} seconds of now (${bothTimes('iat', iat, now)}). Create a new proof for each request`;
  if (token !== undefined && ath !== createHash('sha256').update(token).digest('base64url'))
    return 'The claim ath of the DPoP proof must be the SHA-256 of the access token';
  return undefined;
}

/**
 * Normalises an address (RFC 9449 section 4.3, check 9): removes query and fragment, and normalises the
 * syntax (RFC 3986 section 6.2.2).
 */
function addressOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
