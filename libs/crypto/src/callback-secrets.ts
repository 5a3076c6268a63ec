import { callbackSecretPurpose, type RegisteredCallback } from '@clinical-launch/contracts/registry';
import type { Sealer } from './sealing.ts';

/**
 * Decrypts the unexpired secrets of a callback, `whsec_...`. Skips a secret that cannot be decrypted, so that
 * the other secret still signs.
 * @param now milliseconds since 1970
 */
export function openCallbackSecrets({ secrets }: RegisteredCallback, sealer: Sealer, now: number): string[] {
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  return live.flatMap(({ sealed }) => {
    try {
      const opened = sealer.open(callbackSecretPurpose, sealed, []);
      return typeof opened === 'string' ? [opened] : [];
    } catch {
      return [];
    }
  });
}
