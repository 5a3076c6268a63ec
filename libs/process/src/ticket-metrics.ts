import { meter } from '@clinical-launch/runtime/metrics';
import type { TicketKind, Tickets } from '@clinical-launch/tickets/tickets';

/**
 * Counts issued tickets by kind, and attempts to redeem a ticket by kind and outcome. Successors count as
 * issued.
 */
export function countTickets(tickets: Tickets): Tickets {
  const issued = meter().createCounter('clinical_launch.tickets.issued', {
    description: 'Tickets that were issued, successors included',
    unit: '{ticket}',
  });
  const redeemed = meter().createCounter('clinical_launch.tickets.redeemed', {
    description: 'Attempts to redeem a ticket, by their outcome',
    unit: '{ticket}',
  });
  const count = (kind: TicketKind) => issued.add(1, { 'clinical_launch.ticket.kind': kind });
  return {
    async issue(kind, request) {
      const issue = await tickets.issue(kind, request);
      if (issue.outcome === 'issued') count(kind);
      return issue;
    },
    async issueAdditional(kind, request) {
      const issue = await tickets.issueAdditional(kind, request);
      if (issue.outcome === 'issued') count(kind);
      return issue;
    },
    async redeem(kind, ticket, request) {
      const redemption = await tickets.redeem(kind, ticket, request);
      const { outcome } = redemption;
      redeemed.add(1, { 'clinical_launch.ticket.kind': kind, 'clinical_launch.ticket.outcome': outcome });
      if (outcome === 'redeemed' && request.successor !== undefined) count(request.successor.kind);
      return redemption;
    },
    find: (...about) => tickets.find(...about),
    claim: (...about) => tickets.claim(...about),
    useChain: (...about) => tickets.useChain(...about),
    revokeChain: (...about) => tickets.revokeChain(...about),
    isChainRevoked: (...about) => tickets.isChainRevoked(...about),
    findChainOf: (...about) => tickets.findChainOf(...about),
    findChainRecord: (...about) => tickets.findChainRecord(...about),
    findChains: (...about) => tickets.findChains(...about),
  };
}
