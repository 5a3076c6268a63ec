import { hash } from 'node:crypto';
import { CompactSign, compactVerify } from 'jose';
import type { AuditKeys } from './audit-keys.ts';

/**
 * What a checkpoint states: at this time, the partition ended with this row. It is signed as a compact JWS
 * (RFC 7515, EdDSA) and may be stored anywhere: it shows whether the row was changed or removed
 * since. Checkpoints are numbered from 1 and name the hash of the one before, so that none can be taken out.
 */
export type Checkpoint = {
  readonly number: number;
  readonly partition: string;
  readonly sequence: number;
  /** The hash of that row, in Base64URL. */
  readonly hash: string;
  /** RFC 3339 */
  readonly time: string;
  /** `drop`: the partition was removed afterwards, because it was out of retention. */
  readonly kind: 'rows' | 'drop';
  /** SHA-256 of the JWS before, in Base64URL; empty for the first one. */
  readonly previous: string;
};

export type SignedCheckpoint = Checkpoint & { readonly jws: string };

/** Returns the text by which the next checkpoint names this one. */
export const nameOf = (jws: string): string => hash('sha256', jws, 'base64url');

/** Signs a checkpoint. @throws TypeError without a private key */
export async function signCheckpoint(checkpoint: Checkpoint, { signing }: AuditKeys): Promise<string> {
  if (signing === undefined) throw new TypeError('A private key is needed to sign checkpoints');
  return new CompactSign(Buffer.from(JSON.stringify(checkpoint)))
    .setProtectedHeader({ alg: 'EdDSA', kid: signing.kid, typ: 'audit-checkpoint' })
    .sign(signing.key);
}

/** Returns a checkpoint that one of the keys signed; undefined for anything else. */
export async function readCheckpoint(
  jws: string,
  { verification }: Pick<AuditKeys, 'verification'>,
): Promise<SignedCheckpoint | undefined> {
  try {
    const { payload } = await compactVerify(
      jws,
      ({ kid = '' }) => {
        const key = verification.get(kid);
        if (key === undefined) throw new TypeError('This key is not known');
        return key;
      },
      { algorithms: ['EdDSA'] },
    );
    return { ...(JSON.parse(Buffer.from(payload).toString()) as Checkpoint), jws };
  } catch {
    return undefined;
  }
}
