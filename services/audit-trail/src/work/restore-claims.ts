import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { type Loop, startLoop } from '@clinical-launch/runtime/loop';
import type { Claims } from '@clinical-launch/tickets/claims';
import type { OriginatingIds } from '../store/originating-ids.ts';

type ClaimOptions = {
  readonly claims: Claims;
  readonly originatingIds: OriginatingIds;
  readonly clock: Clock;
  readonly logger: Logger;
};

const checkEveryMs = 1000;
const deleteEveryMs = 3_600_000;

/**
 * Restores the claims if Redis has lost its data, before new launches are accepted, and deletes expired
 * records. Resolves after the first check. Logs a failure, and then retries every second.
 */
export async function startClaimRestorer(options: ClaimOptions): Promise<Pick<Loop, 'stop'>> {
  const { clock, logger, originatingIds } = options;
  let deletedAt = Number.NEGATIVE_INFINITY;
  const loop = startLoop({
    async work() {
      await restoreClaims(options);
      if (clock.now() - deletedAt < deleteEveryMs) return;
      await originatingIds.deleteExpired(clock.now());
      deletedAt = clock.now();
    },
    everyMs: checkEveryMs,
    ref: false,
    onFailure(error, failures) {
      if (failures === 1)
        logger.error({ err: error }, 'the claims on identifiers cannot be checked or restored');
    },
  });
  await loop.firstRun;
  return loop;
}

async function restoreClaims({ claims, originatingIds, clock, logger }: ClaimOptions): Promise<void> {
  if (await claims.areComplete()) return;
  let restored = 0;
  const counted = async function* () {
    for await (const page of originatingIds.live(clock.now())) {
      restored += page.length;
      yield page;
    }
  };
  const isWhole = await claims.rebuild(counted());
  if (isWhole) logger.info({ restored }, 'the claims on identifiers were restored');
}
