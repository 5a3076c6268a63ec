import { randomBytes, randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createSealers } from '@clinical-launch/crypto/sealing-purposes';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { RedisTickets } from '@clinical-launch/tickets/redis-tickets';
import type { IssueRequest, RedeemRequest, Redemption, Tickets } from '@clinical-launch/tickets/tickets';

/** Returns a prefix of Redis keys that no other test uses. */
export const aPrefix = () => `test-${randomUUID()}:`;

export const sealers = createSealers([{ id: 'k1', key: randomBytes(32) }]);

/** Returns a valid event with this correlation id. */
export const anEvent = (correlationId: string = randomUUID()): CloudEvent =>
  createEvent(
    'launch.token.redeemed.v1',
    {
      source: '/test',
      correlationId,
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      now: new Date(0),
    },
    {},
  );

/** Returns a request for a ticket that is valid for a minute, with the changes of the test. */
export const anIssue = (changes: Partial<IssueRequest> = {}): IssueRequest => ({
  context: { patient: 'one' },
  ttlSeconds: 60,
  correlationId: randomUUID(),
  events: [],
  ...changes,
});

/** Issues a launch token. @throws Error with any other outcome than `issued` */
export async function issueTicket(tickets: Tickets, changes?: Partial<IssueRequest>): Promise<string> {
  const issued = await tickets.issue('launch-token', anIssue(changes));
  if (issued.outcome !== 'issued') throw new Error(issued.outcome);
  return issued.ticket;
}

/** Redeems a launch token, by default without proofs, a successor or events. */
export const redeemTicket = (tickets: Tickets, ticket: string, changes: Partial<RedeemRequest> = {}) =>
  tickets.redeem('launch-token', ticket, { events: [], ...changes });

/** Returns the successor of a redemption. @throws Error with the outcome, if there is none */
export function successorOf(redemption: Redemption): string {
  if ('successor' in redemption) return redemption.successor;
  throw new Error(`no successor: ${redemption.outcome}`);
}

/** Creates a `RedisTickets` store, with sealing keys that all tests of this process share. */
export const createTickets = (
  redis: RedisClient,
  prefix: string,
  options: { failoverGuardSeconds?: number; usedMarkerSeconds?: number } = {},
) => new RedisTickets({ redis, sealers, prefix, ...options });

/**
 * Returns a function that drains the outbox and returns all events sent so far. Concurrent calls wait for
 * each other.
 */
export function sentBy(outbox: RedisOutbox): () => Promise<readonly CloudEvent[]> {
  const sent: CloudEvent[] = [];
  let reading = Promise.resolve<readonly CloudEvent[]>(sent);
  const read = async () => {
    sent.push(...(await drainAll(outbox)));
    return sent;
  };
  return () => (reading = reading.then(read));
}

/** Drains the outbox until it is empty, and returns its events. */
export async function drainAll(outbox: RedisOutbox): Promise<CloudEvent[]> {
  const sent: CloudEvent[] = [];
  while ((await outbox.drain(async (written) => void sent.push(...written.map(({ event }) => event)))) > 0);
  return sent;
}
