import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { SigningAlgorithm } from '../domain/realms.ts';
import type { StoredKey } from './signing-key-table.ts';

/** Signs the input of a JWS and returns the signature (RFC 7515 section 5.1, steps 5 and 6). */
export type SignFunction = (input: string) => Buffer;

const privateJwk = compileSchema(
  Type.Object({ kty: Type.Union([Type.Literal('RSA'), Type.Literal('EC'), Type.Literal('OKP')]) }),
);

/** Creates a key pair. Its `kid` is its thumbprint (RFC 7638), so no two keys have the same `kid`. */
export async function createKeyPair(
  { realm, algorithm }: { realm: string; algorithm: SigningAlgorithm },
  sealer: Sealer,
): Promise<Pick<StoredKey, 'kid' | 'publicJwk' | 'sealedPrivateJwk'>> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const bare = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(bare);
  const publicJwk: JWK = { ...bare, kid, alg: algorithm, use: 'sig' };
  const sealedPrivateJwk = sealer.seal(sealPurpose(realm, kid), await exportJWK(pair.privateKey), []);
  return { kid, publicJwk, sealedPrivateJwk };
}

/**
 * Decrypts the private part of a stored key, and returns its signature function. The function signs
 * synchronously. The overhead of the thread pool would exceed the time of an ES256 or EdDSA signature, and
 * would make RS256 a seventh slower.
 * @throws Error if none of the sealing keys decrypts it
 */
export function openPrivateKey(
  { realm, kid, algorithm, sealedPrivateJwk }: StoredKey,
  sealer: Sealer,
): SignFunction {
  try {
    const opened = sealer.open(sealPurpose(realm, kid), sealedPrivateJwk, []);
    if (!privateJwk.is(opened)) throw new TypeError('The sealed content is not a private key');
    return signerOf(algorithm, createPrivateKey({ key: opened, format: 'jwk' }));
  } catch (cause) {
    throw new Error(`None of the sealing keys opens the signing key ${kid} of the realm ${realm}`, { cause });
  }
}

/** Creates the signature function of a key (RFC 7518 sections 3.3 and 3.4, RFC 8037 section 3.1). */
function signerOf(algorithm: SigningAlgorithm, key: KeyObject): SignFunction {
  switch (algorithm) {
    case 'RS256':
      return (input) => sign('sha256', Buffer.from(input, 'ascii'), key);
    case 'ES256':
      return (input) => sign('sha256', Buffer.from(input, 'ascii'), { key, dsaEncoding: 'ieee-p1363' });
    case 'EdDSA':
      return (input) => sign(null, Buffer.from(input, 'ascii'), key);
  }
}

/**
 * Returns the purpose with which a private key is encrypted. The purpose must not change, because a stored
 * key can be decrypted only with the same purpose.
 */
const sealPurpose = (realm: string, kid: string) => `identity-provider signing key ${realm} ${kid}`;
