import type { Clock } from '@clinical-launch/runtime/clock';
import type { Tickets } from '@clinical-launch/tickets/tickets';

export type Revocations = {
  /**
   * Returns whether the chain was revoked, at most five seconds ago. @throws Unavailable when it cannot be
   * queried
   */
  has(correlationId: string): Promise<boolean>;
};

const believedMs = 5000;
const believedChains = 10_000;

/**
 * Caches for five seconds whether the tickets know a chain as revoked, counted from the query, so that a
 * revocation is seen within that time. Concurrent requests share one query; a failure is not cached.
 */
export function createRevocations(tickets: Pick<Tickets, 'isChainRevoked'>, clock: Clock): Revocations {
  const asked = new Map<string, { readonly answer: Promise<boolean>; readonly until: number }>();
  return {
    async has(correlationId) {
      const known = asked.get(correlationId);
      if (known !== undefined && clock.now() < known.until) return known.answer;
      if (asked.size >= believedChains) asked.clear();
      const asking = { answer: tickets.isChainRevoked(correlationId), until: clock.now() + believedMs };
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
