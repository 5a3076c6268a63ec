import type { Clock } from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';

export type Revocations = {
  /** Whether the chain is revoked, as it was at most five seconds ago. @throws Unavailable when it cannot be asked. */
  has(correlationId: string): Promise<boolean>;
};

const believedMs = 5000;
const believedChains = 10_000;

/**
 * Remembers for five seconds what the tickets said of a chain, counted from when they were asked, so that a revocation
 * is seen within that time. Requests that come together ask once; a failure is not remembered.
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
