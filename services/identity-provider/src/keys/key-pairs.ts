import { compileSchema, type Sealer } from '@clinical-launch/contracts';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { Type } from 'typebox';
import type { SigningAlgorithm } from '../domain/realms.ts';
import type { KeptKey } from './signing-key-table.ts';

/** A private key in a form that signs and cannot be exported. */
export type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

const privateJwk = compileSchema(
  Type.Object({ kty: Type.Union([Type.Literal('RSA'), Type.Literal('EC'), Type.Literal('OKP')]) }),
);

/** Creates a key pair; its `kid` is its thumbprint (RFC 7638), so no two keys share a `kid`. */
export async function createKeyPair(
  { realm, algorithm }: { realm: string; algorithm: SigningAlgorithm },
  sealer: Sealer,
): Promise<Pick<KeptKey, 'kid' | 'publicJwk' | 'sealedPrivateJwk'>> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const bare = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(bare);
  const publicJwk: JWK = { ...bare, kid, alg: algorithm, use: 'sig' };
  const sealedPrivateJwk = sealer.seal(sealPurpose(realm, kid), await exportJWK(pair.privateKey), []);
  return { kid, publicJwk, sealedPrivateJwk };
}

/** Opens the private part of a stored key. @throws Error when none of the sealing keys fits */
export async function openPrivateKey(
  { realm, kid, algorithm, sealedPrivateJwk }: KeptKey,
  sealer: Sealer,
): Promise<PrivateKey> {
  try {
    const opened = sealer.open(sealPurpose(realm, kid), sealedPrivateJwk, []);
    if (!privateJwk.is(opened)) throw new TypeError('The sealed content is not a private key');
    return await importJWK(opened, algorithm);
  } catch (cause) {
    throw new Error(`None of the sealing keys opens the signing key ${kid} of the realm ${realm}`, { cause });
  }
}

/**
 * Returns the purpose of a seal, which names the key's place too. Stored keys have always been sealed under
 * these words.
 */
const sealPurpose = (realm: string, kid: string) => `identity-provider signing key ${realm} ${kid}`;
