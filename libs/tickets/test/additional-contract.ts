import { describe, expect, it } from '@jest/globals';
import type { WaitingTests } from '../../testing/test/waiting-tests.ts';
import type { AdditionalIssue, AdditionalIssueRequest } from '../src/tickets.ts';
import { createChainSteps } from './chain-steps.ts';
import type { TicketsUnderTest } from './tickets-contract.ts';

/** Describes how every implementation of `Tickets` issues additional tickets (`issueAdditional`). */
export function describeAdditionalTickets(under: () => TicketsUnderTest, waiting: WaitingTests): void {
  const { issue, redeem, isLive, revoke } = createChainSteps(under);

  const issueAdditional = (ticket: string, changes: Partial<AdditionalIssueRequest> = {}) =>
    under().tickets.issueAdditional('pushed-request', {
      live: { kind: 'launch-identifier', ticket, proofs: ['c'] },
      context: { pushed: 'one' },
      challenge: 'd',
      ttlSeconds: 60,
      limit: { tickets: 100, seconds: 60 },
      ...changes,
    });
  const issued = async (ticket: string, changes?: Partial<AdditionalIssueRequest>) =>
    ticketOf(await issueAdditional(ticket, changes));
  const aLaunch = (changes = {}) => issue('launch-identifier', { challenge: 'c', ...changes });
  const redeemPushed = (ticket: string) => redeem('pushed-request', ticket, { proofs: ['d'] });

  describe('an additional ticket in the chain of a live ticket', () => {
    it('is redeemed once with its own context, and leaves the first ticket live', async () => {
      const { ticket, correlationId } = await aLaunch();
      const beside = await issued(ticket);
      expect(await redeem('pushed-request', beside, { proofs: ['c'] })).toMatchObject({
        outcome: 'mismatch',
      });
      expect(await redeemPushed(beside)).toEqual({
        outcome: 'redeemed',
        context: { pushed: 'one' },
        detail: undefined,
        correlationId,
      });
      expect(await redeemPushed(beside)).toMatchObject({ outcome: 'used' });
      expect(await redeem('launch-identifier', ticket, { proofs: ['c'] })).toMatchObject({
        outcome: 'redeemed',
        context: { user: 'ern:one' },
      });
    });

    it('replaces the previous additional ticket, which becomes unknown', async () => {
      const { ticket } = await aLaunch();
      const [older, newer] = [await issued(ticket), await issued(ticket, { context: { pushed: 'two' } })];
      expect(await redeemPushed(older)).toEqual({ outcome: 'unknown' });
      expect(await redeemPushed(newer)).toMatchObject({ outcome: 'redeemed', context: { pushed: 'two' } });
      expect(await isLive('launch-identifier', ticket)).toBe(true);
    });

    it('is the only live additional ticket if twenty are issued at the same time', async () => {
      const { ticket } = await aLaunch();
      const all = await Promise.all(Array.from({ length: 20 }, () => issued(ticket)));
      const live = await Promise.all(all.map((one) => isLive('pushed-request', one)));
      expect(live.filter(Boolean)).toHaveLength(1);
    });

    it('is issued only for a live ticket with a correct proof', async () => {
      const [used, ended, live] = [await aLaunch(), await aLaunch(), await aLaunch()];
      await redeem('launch-identifier', used.ticket, { proofs: ['c'] });
      await revoke(ended.correlationId);
      const guessed = `${live.ticket.slice(0, -1)}${live.ticket.endsWith('A') ? 'B' : 'A'}`;
      for (const ticket of [used.ticket, ended.ticket, guessed, 'nonsense'])
        expect(await issueAdditional(ticket)).toEqual({ outcome: 'unknown' });
      for (const proofs of [[], ['d']]) {
        const request = { live: { kind: 'launch-identifier', ticket: live.ticket, proofs } } as const;
        expect(await issueAdditional(live.ticket, request)).toEqual({ outcome: 'mismatch' });
      }
    });

    it('is unknown once its chain is revoked', async () => {
      const { ticket, correlationId } = await aLaunch();
      const beside = await issued(ticket);
      await revoke(correlationId);
      expect(await redeemPushed(beside)).toEqual({ outcome: 'unknown' });
    });

    it('reports at its redemption the seconds until the chain of the first ticket ends', async () => {
      const { ticket } = await aLaunch({ chainSeconds: 600 });
      const beside = await issued(ticket);
      const redemption = await redeemPushed(beside);
      const { chainEndsInSeconds } = 'context' in redemption ? redemption : {};
      expect(chainEndsInSeconds).toBeGreaterThan(60);
      expect(chainEndsInSeconds).toBeLessThanOrEqual(600);
    });

    waiting.it('expires when the chain of the first ticket ends', async () => {
      const { ticket } = await aLaunch({ chainSeconds: 2 });
      const beside = await issued(ticket);
      await under().pass(2.1);
      expect(await redeemPushed(beside)).toEqual({ outcome: 'unknown' });
    });

    waiting.it(
      'is refused if its chain issued too many additional tickets recently, and the previous additional ticket stays live',
      async () => {
        const [one, other] = [await aLaunch(), await aLaunch()];
        const limit = { tickets: 2, seconds: 3 };
        await issued(one.ticket, { limit });
        await under().pass(1.5);
        const last = await issued(one.ticket, { limit });
        expect(await issueAdditional(one.ticket, { limit })).toEqual({
          outcome: 'limited',
          waitSeconds: expect.any(Number),
          correlationId: one.correlationId,
        });
        expect(await isLive('pushed-request', last)).toBe(true);
        expect(await issueAdditional(other.ticket, { limit })).toMatchObject({ outcome: 'issued' });
        await under().pass(1.6);
        // The first ticket no longer counts towards the limit, but the second ticket does.
        expect(await issueAdditional(one.ticket, { limit })).toMatchObject({ outcome: 'issued' });
        expect(await issueAdditional(one.ticket, { limit })).toMatchObject({ outcome: 'limited' });
      },
    );
  });
}

function ticketOf(issue: AdditionalIssue): string {
  if (issue.outcome !== 'issued') throw new Error(issue.outcome);
  return issue.ticket;
}
