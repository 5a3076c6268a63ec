import type { KeyObject } from 'node:crypto';
import type { Ed25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { sealKeyOf } from './row-chain.ts';

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
