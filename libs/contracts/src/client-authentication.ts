import { createPublicKey, type KeyObject } from 'node:crypto';
import { certificateThumbprint, hostName, httpAddress } from './registry-values.ts';
import { compileSchema } from './schema.ts';
import { optionalText, type Static, Type } from './type.ts';

/**
 * A public signing key (RFC 7517). `kid` is required, because a client that rotates its keys has two keys.
 * The header `kid` of a token names the key that signed the token. `publicKeyFault` checks the key material.
 */
export const publicJwk = Type.Object({
  kty: Type.Enum(['RSA', 'EC', 'OKP']),
  kid: Type.String({ minLength: 1, maxLength: 200 }),
  use: Type.Optional(Type.Literal('sig')),
  alg: optionalText({ maxLength: 20 }),
});

/**
 * The registered keys with which a client authenticates (RFC 7591 section 2). `jwks` contains the keys.
 * Alternatively, `jwksUri` is the address at which the client publishes the keys.
 */
export const clientKeys = {
  jwks: Type.Optional(
    Type.Object(
      { keys: Type.Array(publicJwk, { minItems: 1, maxItems: 10 }) },
      { additionalProperties: false, title: 'Public keys of the client, instead of a secret (JWK Set)' },
    ),
  ),
  jwksUri: Type.Optional({ ...httpAddress, title: 'Address where the keys are published' }),
};

const compiled = compileSchema(publicJwk);
const curves = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
/** The minimum size of an RSA key that signs a token (RFC 7518 section 3.3). */
export const minRsaBits = 2048;

/**
 * Returns an error if a registered key is private, symmetric, weak or of an unknown type. Returns undefined
 * for a key that can verify signatures. The error never contains the key.
 */
export function publicKeyFault(candidate: unknown): string | undefined {
  // The schema reports malformed keys.
  if (!compiled.is(candidate)) return undefined;
  if ('d' in candidate) return 'is a private key. Register only its public part';
  return strengthFault(readKey(candidate));
}

function readKey(jwk: Static<typeof publicJwk>): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function strengthFault(key: KeyObject | undefined): string | undefined {
  const { modulusLength = 0, namedCurve = '' } = key?.asymmetricKeyDetails ?? {};
  switch (key?.asymmetricKeyType) {
    case 'rsa':
      return modulusLength < minRsaBits ? `must have at least ${minRsaBits} bits` : undefined;
    case 'ec':
      return curves.has(namedCurve) ? undefined : 'must use the curve P-256, P-384 or P-521';
    case 'ed25519':
      return undefined;
    default:
      return 'must be a public key for signatures: RSA, EC or Ed25519';
  }
}

/** The registered certificates with which a client authenticates by mutual TLS (RFC 8705 section 2). */
export const clientCertificates = {
  /** A SAN dNSName in the certificate of the client. The edge verifies the issuer of the certificate. */
  tlsClientAuthSanDns: Type.Optional({
    ...hostName,
    title: 'Host name in its TLS certificates, instead of a secret (tls_client_auth)',
  }),
  /** Values of `x5t#S256`. A client may register several, so that it can renew its certificate. */
  tlsClientCertificateThumbprints: Type.Optional(
    Type.Array(certificateThumbprint, {
      minItems: 1,
      maxItems: 10,
      title: 'SHA-256 of its TLS certificates, instead of a secret (self_signed_tls_client_auth)',
    }),
  ),
  /** If true, the client must use its certificate for every token request (RFC 8705 section 3). */
  tlsClientCertificateBoundAccessTokens: Type.Optional(
    Type.Boolean({ title: 'Whether its access tokens are bound to its certificate (RFC 8705)' }),
  ),
};

/**
 * The accepted signature algorithms. All are asymmetric, because with a symmetric algorithm an attacker could
 * sign with a public key as the secret.
 */
export const asymmetricAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  // The name of EdDSA with the curve Ed25519 in RFC 9864.
  'Ed25519',
];
