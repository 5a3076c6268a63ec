import { temporarilyUnavailable } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { startLoop } from '@clinical-launch/runtime/loop';
import type { RevokedTokens } from './revoked-tokens.ts';

/** The revoked access tokens that a verifying process knows. */
export type Revocations = {
  /**
   * Returns whether a token is revoked, from memory.
   * @throws ServiceError 503 when the last read of the list is too old to decide
   */
  has(tokenId: string): boolean;
};

/** The revoked access tokens, from a list that is polled until `stop` is called. */
export type FollowedRevocations = Revocations & {
  /** Returns whether the list was read recently enough. */
  isCurrent(): boolean;
  stop(): Promise<void>;
};

type FollowOptions = {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds between two reads of the list. */
  readonly everyMs?: number;
  /** The milliseconds for which tokens are accepted after a read of the list. */
  readonly currentForMs?: number;
};

/**
 * Follows the list of revoked tokens: reads the new entries every two seconds, independently of requests, and
 * removes expired entries. A revocation that was read counts until it ends, even if the store loses it.
 * Resolves after the first read, whether it succeeds or not.
 */
export async function followRevocations(
  revokedTokens: Pick<RevokedTokens, 'readAfter'>,
  { clock, logger, everyMs = 2000, currentForMs = 30_000 }: FollowOptions,
): Promise<FollowedRevocations> {
  /** The time at which each revocation ends, in milliseconds since 1970, by token id. */
  const endsById = new Map<string, number>();
  let position: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const readAll = async () => {
    const startedAt = clock.now();
    for (let hasMore = true; hasMore; ) {
      const page = await revokedTokens.readAfter(position);
      for (const { tokenId, forMs } of page.tokens) endsById.set(tokenId, clock.now() + forMs);
      ({ position, hasMore } = page);
    }
    for (const [tokenId, endsAt] of endsById) if (endsAt <= startedAt) endsById.delete(tokenId);
    // Only revocations from before the start of the read are certain to be in its result.
    readAt = startedAt;
  };
  const loop = startLoop({
    work: readAll,
    everyMs,
    ref: false,
    onFailure(error, failures) {
      if (failures === 1) logger.error({ err: error }, 'the revoked tokens cannot be read');
    },
    onRecovery: () => logger.info('the revoked tokens can be read again'),
  });
  const isCurrent = () => clock.now() - readAt <= currentForMs;

  await loop.firstRun;
  return {
    has(tokenId) {
      if (!isCurrent())
        throw temporarilyUnavailable('The list of revoked tokens is not available', {
          retryAfterSeconds: 2,
        });
      return (endsById.get(tokenId) ?? 0) > clock.now();
    },
    isCurrent,
    stop: loop.stop,
  };
}
