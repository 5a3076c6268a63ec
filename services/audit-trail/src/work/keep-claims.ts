import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Claims } from '@clinical-launch/tickets/claims';
import type { OriginatingIds } from '../store/originating-ids.ts';

export type ClaimKeeper = { stop(): Promise<void> };

type KeepClaimsOptions = {
  readonly claims: Claims;
  readonly originatingIds: OriginatingIds;
  readonly clock: Clock;
  readonly logger: Logger;
};

const checkEveryMs = 1000;
const deleteEveryMs = 3_600_000;

/**
 * Restores the claims of a Redis that lost its data, before it accepts new launches, and deletes expired
 * records. Resolves after the first check; logs a failure and retries each second.
 */
export async function startClaimKeeper(options: KeepClaimsOptions): Promise<ClaimKeeper> {
  const { clock, logger, originatingIds } = options;
  let deletedAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  const check = async () => {
    try {
      await restoreClaims(options);
      if (clock.now() - deletedAt >= deleteEveryMs) {
        await originatingIds.deleteExpired(clock.now());
        deletedAt = clock.now();
      }
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'the claims on identifiers cannot be checked or restored');
      isFailing = true;
    }
  };
  await check();
  let checking = Promise.resolve();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    checking = check().finally(() => {
      isBusy = false;
    });
  }, checkEveryMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}

async function restoreClaims({ claims, originatingIds, clock, logger }: KeepClaimsOptions): Promise<void> {
  if (await claims.areComplete()) return;
  let restored = 0;
  const counted = async function* () {
    for await (const page of originatingIds.live(clock.now())) {
      restored += page.length;
      yield page;
    }
  };
  const isWhole = await claims.rebuild(counted());
  if (isWhole) logger.info({ restored }, 'the claims on identifiers are complete');
}
