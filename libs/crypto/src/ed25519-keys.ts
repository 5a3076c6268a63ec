import { createPrivateKey, createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';

/**
 * Ed25519 keys of signatures. During a rotation there are several keys: the first key signs, and every key
 * verifies.
 */
export type Ed25519Keys = {
  /** The key that signs. Absent if the first key is public. */
  readonly signing?: { readonly kid: string; readonly key: KeyObject };
  /** The public keys by their thumbprints (RFC 7638). */
  readonly verification: ReadonlyMap<string, KeyObject>;
  /** The private keys. A key without a private part only verifies. */
  readonly privateKeys: readonly KeyObject[];
};

/**
 * Parses an Ed25519 key or a set of Ed25519 keys (RFC 7517).
 * @throws TypeError with the expected form, without any part of the key
 */
export function parseEd25519Keys(text: string): Ed25519Keys {
  try {
    const parsed: unknown = JSON.parse(text);
    const jwks: unknown = isObject(parsed) && Array.isArray(parsed['keys']) ? parsed['keys'] : [parsed];
    return keysOf((jwks as readonly unknown[]).map(parseKey));
  } catch {
    throw new TypeError(
      'must be an Ed25519 key as a JWK, or a JWK set of such keys with the signing key first',
    );
  }
}

type ParsedKey = { readonly kid: string; readonly publicKey: KeyObject; readonly privateKey?: KeyObject };

function parseKey(jwk: unknown): ParsedKey {
  if (!isObject(jwk) || jwk['kty'] !== 'OKP' || jwk['crv'] !== 'Ed25519')
    throw new TypeError('is not an Ed25519 key');
  const { kty, crv, x, d } = jwk as JsonWebKey;
  const publicKey = createPublicKey({ key: { kty, crv, x } as JsonWebKey, format: 'jwk' });
  const kid = thumbprintOf(publicKey);
  if (d === undefined) return { kid, publicKey };
  const privateKey = createPrivateKey({ key: { kty, crv, x, d } as JsonWebKey, format: 'jwk' });
  return { kid, publicKey, privateKey };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/**
 * Returns the thumbprint of a public key: the SHA-256 of these members in this order (RFC 7638 section 3.2,
 * RFC 8037 section 2).
 */
function thumbprintOf(publicKey: KeyObject): string {
  const { crv, kty, x } = publicKey.export({ format: 'jwk' });
  return hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url');
}

function keysOf(parsed: readonly ParsedKey[]): Ed25519Keys {
  const [first] = parsed;
  if (first === undefined) throw new TypeError('contains no key');
  return {
    ...(first.privateKey === undefined ? {} : { signing: { kid: first.kid, key: first.privateKey } }),
    verification: new Map(parsed.map(({ kid, publicKey }) => [kid, publicKey])),
    privateKeys: parsed.flatMap(({ privateKey }) => privateKey ?? []),
  };
}

/** The PKCS #8 header of a private Ed25519 key (RFC 8410 section 7). The key's 32 bytes follow it. */
const pkcs8Start = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns the private JWK for 32 secret bytes. */
export function ed25519KeyOf(secret: Uint8Array): JsonWebKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Start, secret]), format: 'der', type: 'pkcs8' });
  return key.export({ format: 'jwk' });
}
