import { TestClock } from '@clinical-launch/testing/test-clock';
import { issueTicket, redeemTicket } from '@clinical-launch/testing/ticket-fixtures';
import { expect, it } from '@jest/globals';
import { ExpiringMap } from '../src/in-memory-store.ts';
import { describeTickets } from './tickets-contract.ts';
import { inMemory } from './tickets-under-test.ts';

describeTickets('in memory', async () => inMemory());

it.each([
  ['after a configured 30 seconds', 30],
  ['after 24 hours by default', undefined],
])('tickets in memory forget a used ticket %s', async (_long, seconds) => {
  const { tickets, pass } = inMemory(seconds);
  const ticket = await issueTicket(tickets);
  await redeemTicket(tickets, ticket);
  await pass((seconds ?? 86_400) - 0.1);
  expect(await redeemTicket(tickets, ticket)).toMatchObject({ outcome: 'used' });
  await pass(0.1);
  expect(await redeemTicket(tickets, ticket)).toEqual({ outcome: 'unknown' });
});

it('expired entries in memory are removed when a value is stored, at most every ten seconds', () => {
  const clock = new TestClock();
  const entries = new ExpiringMap<string>(clock);
  for (const key of ['brief', 'briefer']) entries.set(key, key, 1);
  entries.set('lasting', 'value', 60);
  clock.advance({ seconds: 9 });
  entries.set('second', 'value', 60);
  expect(entries.size).toBe(4);
  clock.advance({ seconds: 1 });
  entries.set('third', 'value', 60);
  expect(entries.size).toBe(3);
});

it('tickets in memory are unknown when they expire, and live tickets are kept', async () => {
  const { tickets, pass } = inMemory();
  const lasting = await issueTicket(tickets, { ttlSeconds: 60 });
  const brief = await issueTicket(tickets, { ttlSeconds: 5 });
  await pass(30);
  await issueTicket(tickets);
  expect(await redeemTicket(tickets, brief)).toEqual({ outcome: 'unknown' });
  expect(await redeemTicket(tickets, lasting)).toMatchObject({ outcome: 'redeemed' });
});
