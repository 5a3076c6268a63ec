import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { issueTicket, redeemTicket } from '@clinical-launch/testing/ticket-fixtures';
import { expect, it } from '@jest/globals';
import { createInMemoryTickets } from '../src/in-memory-tickets.ts';
import { describeTickets } from './tickets-contract.ts';

function create(usedMarkerSeconds?: number) {
  let now = 0;
  const sent: CloudEvent[] = [];
  const { tickets, chains, once } = createInMemoryTickets({
    clock: { now: () => now },
    outbox: { append: async (events) => void sent.push(...events) },
    ...withoutUndefined({ usedMarkerSeconds }),
  });
  return {
    tickets,
    chains,
    once,
    outbox: async () => sent,
    pass: async (seconds: number) => {
      now += seconds * 1000;
    },
    isTimeReal: false,
    stop: async () => undefined,
  };
}

describeTickets('in memory', async () => create());

it.each([
  ['after a configured 30 seconds', 30, 30],
  ['after 24 hours by default', undefined, 86_400],
])('InMemoryTickets forgets a used ticket %s', async (_long, set, seconds) => {
  const { tickets, pass } = create(set);
  const issued = await tickets.issue('launch-token', {
    context: 1,
    ttlSeconds: 10,
    correlationId: randomUUID(),
    events: [],
  });
  if (issued.outcome !== 'issued') throw new Error(issued.outcome);
  await tickets.redeem('launch-token', issued.ticket, { events: [] });
  await pass(seconds - 0.1);
  expect(await tickets.redeem('launch-token', issued.ticket, { events: [] })).toMatchObject({
    outcome: 'used',
  });
  await pass(0.1);
  expect(await tickets.redeem('launch-token', issued.ticket, { events: [] })).toEqual({ outcome: 'unknown' });
});

it('InMemoryTickets removes expired tickets, and keeps live tickets', async () => {
  const { tickets, pass } = create();
  const lasting = await issueTicket(tickets, { ttlSeconds: 60 });
  const brief = await issueTicket(tickets, { ttlSeconds: 5 });
  await pass(30);
  await issueTicket(tickets);
  expect(await tickets.redeem('launch-token', brief, { events: [] })).toEqual({ outcome: 'unknown' });
  expect(await redeemTicket(tickets, lasting)).toMatchObject({ outcome: 'redeemed' });
});
