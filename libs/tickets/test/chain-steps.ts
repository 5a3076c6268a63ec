import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { IssueRequest, RedeemRequest, Redemption, TicketKind } from '../src/tickets.ts';
import type { TicketsUnderTest } from './tickets-contract.ts';

/** Returns the option `onReplay` of a redemption: a replay revokes the chain for a minute. */
export const onReplay = (events: CloudEvent[] = []) => ({ revokeForSeconds: 60, events });

/** Returns short functions for the operations on a chain of tickets. */
export function createChainSteps(under: () => TicketsUnderTest) {
  const issue = async (kind: TicketKind, changes: Partial<IssueRequest> = {}) => {
    const correlationId = changes.correlationId ?? randomUUID();
    const request = { context: { user: 'ern:one' }, ttlSeconds: 60, correlationId, events: [], ...changes };
    const issued = await under().tickets.issue(kind, request);
    if (issued.outcome !== 'issued') throw new Error(issued.outcome);
    return { ticket: issued.ticket, correlationId };
  };
  const redeem = (kind: TicketKind, ticket: string, request: Partial<RedeemRequest> = {}) =>
    under().tickets.redeem(kind, ticket, { events: [], ...request });
  /** Redeems a refresh token as the token endpoint does. */
  const refresh = (ticket: string, changes: Partial<RedeemRequest> = {}) =>
    redeem('refresh-token', ticket, {
      successor: { kind: 'refresh-token', ttlSeconds: 60, detail: { scope: 'openid' }, isDerived: true },
      repeatableSeconds: 30,
      onReplay: onReplay(),
      ...changes,
    });
  const refreshed = async (ticket: string, changes?: Partial<RedeemRequest>) =>
    successorOf(await refresh(ticket, changes));
  const isLive = async (kind: TicketKind, ticket: string) =>
    (await under().tickets.find(kind, ticket)) !== undefined;
  const revoke = (correlationId: string, forSeconds = 60, events: CloudEvent[] = []) =>
    under().chains.revoke(correlationId, { forSeconds, events });
  const isRevoked = (correlationId: string) => under().chains.isRevoked(correlationId);
  const sentOf = async (events: CloudEvent[]) => {
    const mine = new Set(events.map(({ id }) => id));
    return (await under().outbox()).filter(({ id }) => mine.has(id));
  };
  return { issue, redeem, refresh, refreshed, isLive, revoke, isRevoked, sentOf };
}

/** Returns the successor of a redemption. @throws Error with the outcome, if the redemption was refused */
export function successorOf(redemption: Redemption): string {
  if (redemption.outcome !== 'redeemed' && redemption.outcome !== 'repeated')
    throw new Error(redemption.outcome);
  if (redemption.successor === undefined) throw new Error('no successor');
  return redemption.successor;
}
