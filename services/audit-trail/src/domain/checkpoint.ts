import { hash, type KeyObject } from 'node:crypto';
import type { Ed25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { CompactSign, compactVerify } from 'jose';
import { sealKeyOf } from './row-chain.ts';

/**
 * States that a partition ended with a certain row at a certain time. A checkpoint is signed as a compact JWS
 * (RFC 7515, EdDSA). Wherever it is stored, it proves whether the row was changed or removed later.
 * Checkpoints are numbered from 1. Each contains the hash of the previous checkpoint, so that a removed
 * checkpoint is noticed.
 */
export type Checkpoint = {
  readonly number: number;
  readonly partition: string;
  readonly sequence: number;
  /** The hash of the row, in Base64URL. */
  readonly hash: string;
  /** RFC 3339 */
  readonly time: string;
  /** `drop`: the partition was deleted after this checkpoint, because its retention had ended. */
  readonly kind: 'rows' | 'drop';
  /** The SHA-256 of the previous checkpoint's JWS, in Base64URL. Empty for the first checkpoint. */
  readonly previous: string;
};

export type SignedCheckpoint = Checkpoint & { readonly jws: string };

/** Returns the hash of a checkpoint, which the next checkpoint contains as `previous`. */
export const nameOf = (jws: string): string => hash('sha256', jws, 'base64url');

/** Signs a checkpoint. @throws TypeError without a private key */
export async function signCheckpoint(checkpoint: Checkpoint, { signing }: AuditKeys): Promise<string> {
  if (signing === undefined) throw new TypeError('Signing a checkpoint requires a private key');
  return new CompactSign(Buffer.from(JSON.stringify(checkpoint)))
    .setProtectedHeader({ alg: 'EdDSA', kid: signing.kid, typ: 'audit-checkpoint' })
    .sign(signing.key);
}

/** Verifies and decodes a checkpoint. Returns undefined unless one of the keys signed it. */
export async function readCheckpoint(
  jws: string,
  { verification }: Pick<AuditKeys, 'verification'>,
): Promise<SignedCheckpoint | undefined> {
  try {
    const { payload } = await compactVerify(
      jws,
      ({ kid = '' }) => {
        const key = verification.get(kid);
        if (key === undefined) throw new TypeError('The key ID is unknown');
        return key;
      },
      { algorithms: ['EdDSA'] },
    );
    return { ...(JSON.parse(Buffer.from(payload).toString()) as Checkpoint), jws };
  } catch {
    return undefined;
  }
}

/** The keys of the log. The first key signs and seals, and every key verifies. */
export type AuditKeys = Omit<Ed25519Keys, 'privateKeys'> & {
  /** The keys of the seals. Empty if there are only public keys, which do not verify the seals of rows. */
  readonly seals: readonly KeyObject[];
};

/** Returns the keys of the log. Each private key also seals rows. */
export const auditKeysFrom = ({ privateKeys, ...keys }: Ed25519Keys): AuditKeys => ({
  ...keys,
  seals: privateKeys.map((key) => sealKeyOf(Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url'))),
});
