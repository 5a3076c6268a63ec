import type { Clock } from '@clinical-launch/runtime/clock';
import type { Chains } from '@clinical-launch/tickets/chains';

export type Revocations = {
  /**
   * Returns whether the launch with this correlation id is revoked. The answer may be up to five seconds old.
   * @throws Unavailable if the ticket store cannot be queried
   */
  has(correlationId: string): Promise<boolean>;
};

const believedMs = 5000;
const believedChains = 10_000;

/**
 * Caches for five seconds whether a launch is revoked, so that a revocation takes effect within five seconds.
 * Concurrent requests share one query. A failure is not cached.
 */
export function createRevocations(chains: Pick<Chains, 'isRevoked'>, clock: Clock): Revocations {
  const asked = new Map<string, { readonly answer: Promise<boolean>; readonly until: number }>();
  return {
    async has(correlationId) {
      const known = asked.get(correlationId);
      if (known !== undefined && clock.now() < known.until) return known.answer;
      if (asked.size >= believedChains) asked.clear();
      const asking = { answer: chains.isRevoked(correlationId), until: clock.now() + believedMs };
      asked.set(correlationId, asking);
      try {
        return await asking.answer;
      } catch (error) {
        if (asked.get(correlationId) === asking) asked.delete(correlationId);
        throw error;
      }
    },
  };
}
