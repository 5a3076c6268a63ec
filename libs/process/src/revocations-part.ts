import { followRevocations, type Revocations } from '@clinical-launch/trust/revocations';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import type { PartOptions, RunningPart } from './parts.ts';

/**
 * Follows the list of revoked access tokens, for a process that verifies such tokens. The part is ready while
 * the last read of the list is recent enough.
 */
export async function openRevocationsPart(
  { revokedTokens }: { readonly revokedTokens: RevokedTokens },
  options: Pick<PartOptions, 'clock' | 'logger'>,
): Promise<RunningPart & { readonly revocations: Revocations }> {
  const revocations = await followRevocations(revokedTokens, options);
  return {
    revocations,
    checks: { revocations: async () => revocations.isCurrent() },
    stop: () => revocations.stop(),
  };
}
