import { hkdfSync } from 'node:crypto';
import type { Environment } from '@clinical-launch/runtime/environment';

/**
 * Returns 32 secret bytes for a setting that is not set, from `SEALING_KEYS` (HKDF-SHA-256, RFC 5869);
 * undefined without that.
 */
export function deriveFromSealingKeys(
  { SEALING_KEYS: shared }: Environment,
  setting: string,
): Buffer | undefined {
  return shared ? Buffer.from(hkdfSync('sha256', shared, '', setting, 32)) : undefined;
}
