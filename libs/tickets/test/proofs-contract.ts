import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { describe, expect, it } from '@jest/globals';
import type { WaitingTests } from '../../testing/test/waiting-tests.ts';
import type { ChainUse } from '../src/chains.ts';
import { createChainSteps, onReplay, successorOf } from './chain-steps.ts';
import type { TicketsUnderTest } from './tickets-contract.ts';

type Parts = {
  readonly under: () => TicketsUnderTest;
  readonly event: (correlationId: string) => CloudEvent;
  readonly waiting: WaitingTests;
};

const aProof = (forSeconds = 60) => ({ name: `proof ${randomUUID()}`, forSeconds });

/** Describes how every implementation of `Tickets` uses up proofs, and limits the uses of a chain. */
export function describeProofs({ under, event, waiting }: Parts): void {
  const { issue, redeem, refresh, isLive, isRevoked, sentOf } = createChainSteps(under);
  const use = (correlationId: string, changes: Partial<ChainUse> = {}) =>
    under().chains.use(correlationId, { limit: { uses: 100, seconds: 60 }, events: [], ...changes });
  const push = (ticket: string, proof: ReturnType<typeof aProof>) =>
    under().tickets.issueAdditional('pushed-request', {
      live: { kind: 'launch-identifier', ticket, proofs: ['c'] },
      context: {},
      ttlSeconds: 60,
      limit: { tickets: 10, seconds: 60 },
      proof,
    });

  describe('a single-use proof', () => {
    it('is used up by a redemption, and refused at the next redemption', async () => {
      const proof = aProof();
      const { ticket } = await issue('refresh-token');
      const next = successorOf(await refresh(ticket, { proof }));
      expect(await refresh(next, { proof })).toEqual({ outcome: 'used-proof' });
      expect(await isLive('refresh-token', next)).toBe(true);
      expect(await refresh(next, { proof: aProof() })).toMatchObject({ outcome: 'redeemed' });
    });

    it('is used up by a repeated redemption', async () => {
      const proof = aProof();
      const { ticket } = await issue('refresh-token');
      const next = successorOf(await refresh(ticket));
      expect(await refresh(ticket, { proof })).toMatchObject({ outcome: 'repeated' });
      expect(await refresh(next, { proof })).toEqual({ outcome: 'used-proof' });
    });

    it('is refused when replayed with its ticket, without revoking the chain', async () => {
      const proof = aProof();
      const { ticket: code, correlationId } = await issue('authorization-code');
      const request = { proof, onReplay: onReplay() };
      await redeem('authorization-code', code, request);
      expect(await redeem('authorization-code', code, request)).toEqual({ outcome: 'used-proof' });
      expect(await isRevoked(correlationId)).toBe(false);
      const other = { ...request, proof: aProof() };
      expect(await redeem('authorization-code', code, other)).toMatchObject({ outcome: 'used' });
      expect(await isRevoked(correlationId)).toBe(true);
    });

    it('is not used up by a refused redemption', async () => {
      const proof = aProof();
      const { ticket: code, correlationId } = await issue('authorization-code', { challenge: 'c' });
      const guessed = `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}`;
      expect(await redeem('authorization-code', guessed, { proof })).toEqual({ outcome: 'unknown' });
      expect(await redeem('authorization-code', code, { proof, proofs: ['d'] })).toEqual({
        outcome: 'mismatch',
        correlationId,
      });
      expect(await redeem('authorization-code', code, { proof, proofs: ['c'] })).toMatchObject({
        outcome: 'redeemed',
      });
    });

    it('is used up by a pushed request, so that a second push is refused', async () => {
      const proof = aProof();
      const { ticket } = await issue('launch-identifier', { challenge: 'c' });
      const pushed = await push(ticket, proof);
      expect(await push(ticket, proof)).toEqual({ outcome: 'used-proof' });
      expect(await isLive('pushed-request', 'ticket' in pushed ? pushed.ticket : '')).toBe(true);
    });

    it('is accepted once among fifty simultaneous uses', async () => {
      const [proof, correlationId] = [aProof(), randomUUID()];
      const events = Array.from({ length: 50 }, () => event(correlationId));
      const uses = await Promise.all(events.map((each) => use(correlationId, { proof, events: [each] })));
      expect(uses.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
      expect(uses.filter(({ outcome }) => outcome === 'used-proof')).toHaveLength(49);
      expect(await sentOf(events)).toHaveLength(1);
    });

    it('is used up only for its own chain', async () => {
      const proof = aProof();
      const [one, other] = [randomUUID(), randomUUID()];
      expect(await use(one, { proof })).toEqual({ outcome: 'accepted' });
      expect(await use(other, { proof })).toEqual({ outcome: 'accepted' });
    });

    waiting.it('is forgotten after `forSeconds`', async () => {
      const [proof, correlationId] = [aProof(3), randomUUID()];
      await use(correlationId, { proof });
      expect(await use(correlationId, { proof })).toEqual({ outcome: 'used-proof' });
      await under().pass(3.1);
      expect(await use(correlationId, { proof })).toEqual({ outcome: 'accepted' });
    });
  });

  describe('the uses of a chain', () => {
    it('send their events under the correlation id of the chain', async () => {
      const correlationId = randomUUID();
      const sent = event(randomUUID());
      await use(correlationId, { events: [sent] });
      expect(await sentOf([sent])).toEqual([{ ...sent, correlationid: correlationId }]);
    });

    waiting.it('are counted in a window that starts with the first use', async () => {
      const correlationId = randomUUID();
      const limit = { uses: 2, seconds: 3 };
      expect(await use(correlationId, { limit })).toEqual({ outcome: 'accepted' });
      await under().pass(1.6);
      expect(await use(correlationId, { limit })).toEqual({ outcome: 'accepted' });
      await under().pass(1.6);
      expect(await use(correlationId, { limit })).toEqual({ outcome: 'accepted' });
    });

    waiting.it('are refused beyond their limit until the window ends, without an event', async () => {
      const correlationId = randomUUID();
      const limit = { uses: 2, seconds: 3 };
      const events = [event(correlationId), event(correlationId), event(correlationId)];
      const outcomes = [];
      for (const each of events) outcomes.push(await use(correlationId, { limit, events: [each] }));
      const limited = { outcome: 'limited', waitSeconds: expect.any(Number) };
      expect(outcomes).toEqual([{ outcome: 'accepted' }, { outcome: 'accepted' }, limited]);
      const proof = aProof();
      expect(await use(correlationId, { limit, proof })).toEqual(limited);
      expect(await use(randomUUID(), { limit })).toEqual({ outcome: 'accepted' });
      await under().pass(3.1);
      expect(await use(correlationId, { limit, proof })).toEqual({ outcome: 'accepted' });
      expect(await sentOf(events)).toEqual(events.slice(0, 2));
    });
  });
}
