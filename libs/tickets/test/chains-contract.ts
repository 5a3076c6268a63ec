import { createHash, randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { describe, expect, it } from '@jest/globals';
import type { WaitingTests } from '../../testing/test/waiting-tests.ts';
import type { TicketKind } from '../src/tickets.ts';
import { createChainSteps, onReplay, successorOf } from './chain-steps.ts';
import type { TicketsUnderTest } from './tickets-contract.ts';

type Parts = {
  readonly under: () => TicketsUnderTest;
  readonly event: (correlationId: string) => CloudEvent;
  readonly waiting: WaitingTests;
};

const kinds = [
  'launch-token',
  'launch-session',
  'launch-identifier',
  'authorization-code',
  'refresh-token',
] as const satisfies TicketKind[];

/**
 * Describes how every implementation of `Tickets` handles chains, in which a ticket has a successor, as
 * authorization codes and refresh tokens do.
 */
export function describeChains({ under, event, waiting }: Parts): void {
  const { issue, redeem, refresh, refreshed, isLive, revoke, isRevoked, sentOf } = createChainSteps(under);

  describe('a refresh token', () => {
    it('is rotated at every use, and each successor has the context and chain of the first token', async () => {
      const first = await issue('refresh-token', { detail: { scope: 'openid launch' } });
      let { ticket } = first;
      const seen = new Set([ticket]);
      for (let round = 0; round < 5; round += 1) {
        const next = await refreshed(ticket);
        expect(await under().tickets.find('refresh-token', ticket)).toBeUndefined();
        expect(await under().tickets.find('refresh-token', next)).toEqual({
          context: { user: 'ern:one' },
          detail: { scope: 'openid' },
          correlationId: first.correlationId,
        });
        seen.add((ticket = next));
      }
      expect(seen.size).toBe(6);
    });

    it('returns the same answer when it is reused within the grace period, without an event', async () => {
      const { ticket, correlationId } = await issue('refresh-token', { detail: { scope: 'of the first' } });
      const [first, again, replayed] = [event(correlationId), event(correlationId), event(correlationId)];
      const redeemed = await refresh(ticket, { events: [first] });
      const repeated = await refresh(ticket, { events: [again], onReplay: onReplay([replayed]) });
      expect(redeemed).toEqual({
        outcome: 'redeemed',
        context: { user: 'ern:one' },
        detail: { scope: 'of the first' },
        correlationId,
        successor: expect.any(String),
      });
      expect(repeated).toEqual({ ...redeemed, outcome: 'repeated' });
      expect(await isRevoked(correlationId)).toBe(false);
      expect(await sentOf([first, again, replayed])).toEqual([first]);
      expect(await refresh(successorOf(repeated))).toMatchObject({ outcome: 'redeemed' });
    });

    it('returns the newest successor, never a used one, when it is reused within the grace period', async () => {
      const { ticket } = await issue('refresh-token');
      const second = await refreshed(ticket);
      const third = await refreshed(second);
      const fourth = await refreshed(third);
      for (const used of [ticket, second, third])
        expect(await refresh(used)).toMatchObject({ outcome: 'repeated', successor: fourth });
      expect(await isLive('refresh-token', fourth)).toBe(true);
    });

    it('and its successor have one live successor after fifty simultaneous uses of both', async () => {
      const { ticket, correlationId } = await issue('refresh-token');
      const second = await refreshed(ticket);
      const both = Array.from({ length: 50 }, (_, index) => refresh(index % 2 === 0 ? ticket : second));
      const all = await Promise.all(both);
      expect(all.filter(({ outcome }) => outcome === 'redeemed')).toHaveLength(1);
      expect(all.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(49);
      const third = await refreshed(ticket);
      expect(new Set(all.map(successorOf).filter((each) => each !== second))).toEqual(new Set([third]));
      expect(await isLive('refresh-token', third)).toBe(true);
      expect(await isRevoked(correlationId)).toBe(false);
    });

    waiting.it('revokes the whole token family when its successor was used longer ago', async () => {
      const { ticket, correlationId } = await issue('refresh-token');
      const brief = { repeatableAfterUseSeconds: 1 };
      const second = await refreshed(ticket, brief);
      await under().pass(1.1);
      expect(await refresh(ticket, brief)).toMatchObject({ outcome: 'repeated', successor: second });
      const third = await refreshed(second, brief);
      expect(await refresh(ticket, brief)).toMatchObject({ outcome: 'repeated', successor: third });
      await under().pass(1.1);
      expect(await refresh(ticket, brief)).toEqual({ outcome: 'used', correlationId });
      expect([await isLive('refresh-token', third), await isRevoked(correlationId)]).toEqual([false, true]);
    });

    it('has one live successor after fifty simultaneous uses', async () => {
      const { ticket, correlationId } = await issue('refresh-token');
      const events = Array.from({ length: 50 }, () => event(correlationId));
      const all = await Promise.all(events.map((each) => refresh(ticket, { events: [each] })));
      expect(all.filter(({ outcome }) => outcome === 'redeemed')).toHaveLength(1);
      expect(all.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(49);
      const [successor, ...others] = new Set(all.map(successorOf));
      expect(others).toEqual([]);
      expect(await isLive('refresh-token', successor ?? '')).toBe(true);
      expect(await isRevoked(correlationId)).toBe(false);
      expect(await sentOf(events)).toHaveLength(1);
    });

    waiting.it('revokes the whole token family when it is reused after the grace period', async () => {
      const { ticket, correlationId } = await issue('refresh-token');
      const live = await refreshed(ticket, { repeatableSeconds: 1 });
      await under().pass(1.1);
      expect(await isLive('refresh-token', live)).toBe(true);
      const revoked = event(randomUUID());
      expect(await refresh(ticket, { onReplay: onReplay([revoked]) })).toEqual({
        outcome: 'used',
        correlationId,
      });
      expect(await refresh(live)).toEqual({ outcome: 'unknown' });
      expect(await isLive('refresh-token', live)).toBe(false);
      expect(await isRevoked(correlationId)).toBe(true);
      // The event has the correlation id of the ticket's chain, not the correlation id of the request.
      expect(await sentOf([revoked])).toEqual([{ ...revoked, correlationid: correlationId }]);
    });

    it('is answered “used”, not “repeated”, once its chain is revoked', async () => {
      const { ticket, correlationId } = await issue('refresh-token');
      await refresh(ticket);
      await revoke(correlationId);
      expect(await refresh(ticket)).toEqual({ outcome: 'used', correlationId });
    });

    it('can be redeemed again only by a request that allows repetition and has a valid proof', async () => {
      const { ticket, correlationId } = await issue('refresh-token', { challenge: 'c' });
      const successor = await refreshed(ticket, { proofs: ['c'] });
      const { tickets } = under();
      const used = { outcome: 'used', correlationId };
      const asked = { kind: 'refresh-token', ttlSeconds: 60, isDerived: true } as const;
      expect(await tickets.redeem('refresh-token', ticket, { proofs: ['c'], events: [] })).toEqual(used);
      const request = { successor: asked, repeatableSeconds: 30, events: [] };
      expect(await tickets.redeem('refresh-token', ticket, { ...request, proofs: ['d'] })).toEqual(used);
      expect(await tickets.redeem('refresh-token', ticket, request)).toEqual(used);
      const proven = await tickets.redeem('refresh-token', ticket, { ...request, proofs: ['c'] });
      expect(proven).toMatchObject({ outcome: 'repeated', successor });
    });

    it('is exhausted when redemptions and repetitions reach the limit of its chain, which is not revoked', async () => {
      const limit = { redemptions: 3 };
      const { ticket: first, correlationId } = await issue('refresh-token', { chainSeconds: 60 });
      const second = await refreshed(first, { limit });
      expect(await refresh(first, { limit })).toMatchObject({ outcome: 'repeated' });
      const third = await refreshed(second, { limit });
      const exhausted = { outcome: 'exhausted', correlationId, chainEndsInSeconds: expect.any(Number) };
      const sent = event(correlationId);
      for (const ticket of [third, second])
        expect(await refresh(ticket, { limit, events: [sent] })).toEqual(exhausted);
      expect(await isLive('refresh-token', third)).toBe(true);
      expect([await isRevoked(correlationId), await sentOf([sent])]).toEqual([false, []]);
      const other = await issue('refresh-token', { chainSeconds: 60 });
      expect(await refresh(other.ticket, { limit })).toMatchObject({ outcome: 'redeemed' });
    });

    it('is exhausted beyond the limit of its chain even if it is used simultaneously', async () => {
      const limit = { redemptions: 5 };
      const { ticket } = await issue('refresh-token', { chainSeconds: 60 });
      const all = await Promise.all(Array.from({ length: 20 }, () => refresh(ticket, { limit })));
      expect(all.filter(({ outcome }) => outcome === 'exhausted')).toHaveLength(15);
    });

    waiting.it('is answered “used” until its chain ends, and then “unknown”', async () => {
      const { ticket } = await issue('refresh-token', { chainSeconds: 4 });
      await refresh(ticket, { repeatableSeconds: 1 });
      await under().pass(1.1);
      expect(await redeem('refresh-token', ticket)).toMatchObject({ outcome: 'used' });
      await under().pass(3);
      expect(await redeem('refresh-token', ticket)).toEqual({ outcome: 'unknown' });
    });

    it('can be redeemed repeatedly only if its successor is derived', async () => {
      const { ticket } = await issue('refresh-token');
      const drawn = { kind: 'refresh-token', ttlSeconds: 60 } as const;
      for (const request of [{ successor: drawn }, { successor: { ...drawn, isDerived: false } }, {}]) {
        await expect(redeem('refresh-token', ticket, { ...request, repeatableSeconds: 1 })).rejects.toThrow(
          TypeError,
        );
      }
      expect(await refresh(ticket)).toMatchObject({ outcome: 'redeemed' });
    });
  });

  describe('a derived ticket', () => {
    it('looks like a random ticket: 256 bits in the Base64URL alphabet, none of them fixed', async () => {
      const drawn = await Promise.all(Array.from({ length: 100 }, () => issue('refresh-token')));
      const derived = await Promise.all(drawn.map(({ ticket }) => refreshed(ticket)));
      expect(new Set([...drawn.map(({ ticket }) => ticket), ...derived]).size).toBe(200);
      const bits = derived.map((ticket) => {
        expect(ticket).toMatch(/^[A-Za-z0-9_-]{89}$/);
        expect(ticket).toHaveLength(drawn[0]?.ticket.length ?? 0);
        return Buffer.from(ticket.slice(-43), 'base64url');
      });
      for (let bit = 0; bit < 256; bit += 1) {
        const values = bits.map((bytes) => (bytes.readUInt8(bit >> 3) >> (bit & 7)) & 1);
        expect(new Set(values).size).toBe(2);
      }
    });

    it('contains neither its predecessor’s secret nor a digest of the predecessor', async () => {
      const { ticket } = await issue('refresh-token');
      const successor = await refreshed(ticket);
      const secret = ticket.slice(-43);
      const texts = [ticket, secret, `refresh-token ${ticket}`, `refresh-token:${ticket}`];
      const inputs = [...texts, ...texts.map((text) => Buffer.from(text, 'base64url'))];
      for (const input of inputs) {
        expect(successor).not.toContain(createHash('sha256').update(input).digest('base64url'));
      }
      expect(successor).not.toContain(secret);
    });
  });

  describe('an authorization code', () => {
    const codeAndTokens = async () => {
      const { ticket: code, correlationId } = await issue('authorization-code', { challenge: 'c' });
      const successor = { kind: 'refresh-token', ttlSeconds: 60 } as const;
      const request = { proofs: ['c'], successor, onReplay: onReplay() };
      const token = successorOf(await redeem('authorization-code', code, request));
      return { code, correlationId, token, request };
    };

    it('is bound to the challenge of its authorization request, and stays valid after a mismatch', async () => {
      const { ticket, correlationId } = await issue('launch-identifier', { challenge: 'realm client' });
      const successor = { kind: 'authorization-code', ttlSeconds: 60, challenge: 'pkce' } as const;
      const code = successorOf(
        await redeem('launch-identifier', ticket, { proofs: ['realm client'], successor }),
      );
      for (const proofs of [['realm client'], ['other'], []]) {
        const redemption = await redeem('authorization-code', code, { proofs, onReplay: onReplay() });
        expect(redemption).toEqual({ outcome: 'mismatch', correlationId });
      }
      expect(await isRevoked(correlationId)).toBe(false);
      expect(await redeem('authorization-code', code, { proofs: ['pkce'] })).toMatchObject({
        outcome: 'redeemed',
        context: { user: 'ern:one' },
        correlationId,
      });
    });

    it('revokes its tokens when it is replayed with any proof, and sends one event', async () => {
      for (const proofs of [['c'], ['wrong'], []]) {
        const { code, correlationId, token, request } = await codeAndTokens();
        const newest = await refreshed(token);
        const events = [event(correlationId), event(correlationId)];
        for (const each of events) {
          const replay = { ...request, proofs, onReplay: onReplay([each]) };
          expect(await redeem('authorization-code', code, replay)).toEqual({
            outcome: 'used',
            correlationId,
          });
        }
        expect(await refresh(newest)).toEqual({ outcome: 'unknown' });
        expect(await sentOf(events)).toEqual(events.slice(0, 1));
      }
    });

    it('cannot be redeemed after the fifth wrong proof, and one event is sent', async () => {
      const { ticket: code, correlationId } = await issue('authorization-code', { challenge: 'c' });
      const ended = event(randomUUID());
      const onMismatch = { limit: 5, revokeForSeconds: 60, events: [ended] };
      const tries = Array.from({ length: 20 }, (_, index) =>
        redeem('authorization-code', code, { proofs: [`wrong ${index}`], onMismatch }),
      );
      const outcomes = (await Promise.all(tries)).map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === 'mismatch')).toHaveLength(5);
      expect(outcomes.filter((outcome) => outcome === 'used')).toHaveLength(15);
      expect(await redeem('authorization-code', code, { proofs: ['c'], onMismatch })).toEqual({
        outcome: 'used',
        correlationId,
      });
      expect(await isRevoked(correlationId)).toBe(true);
      expect(await sentOf([ended])).toEqual([{ ...ended, correlationid: correlationId }]);
    });

    it('accepts the correct proof after four wrong proofs', async () => {
      const { ticket: code, correlationId } = await issue('authorization-code', { challenge: 'c' });
      const onMismatch = { limit: 5, revokeForSeconds: 60, events: [] };
      for (let round = 0; round < 4; round += 1) {
        const wrong = await redeem('authorization-code', code, { proofs: ['wrong'], onMismatch });
        expect(wrong).toEqual({ outcome: 'mismatch', correlationId });
      }
      const right = { proofs: ['c'], onMismatch, onReplay: onReplay() };
      expect(await redeem('authorization-code', code, right)).toMatchObject({ outcome: 'redeemed' });
      expect(await isRevoked(correlationId)).toBe(false);
    });

    it('keeps its tokens live when it is replayed by a request without `onReplay`', async () => {
      const { code, correlationId, token } = await codeAndTokens();
      expect(await redeem('authorization-code', code)).toEqual({ outcome: 'used', correlationId });
      expect(await isRevoked(correlationId)).toBe(false);
      expect(await isLive('refresh-token', token)).toBe(true);
    });

    it('leaves no live token after fifty simultaneous uses', async () => {
      const { ticket, correlationId } = await issue('authorization-code');
      const successor = { kind: 'refresh-token', ttlSeconds: 60 } as const;
      const all = await Promise.all(
        Array.from({ length: 50 }, () =>
          redeem('authorization-code', ticket, { successor, onReplay: onReplay() }),
        ),
      );
      expect(all.filter(({ outcome }) => outcome === 'used')).toHaveLength(49);
      const given = all.filter(({ outcome }) => outcome === 'redeemed').map(successorOf);
      expect(given).toHaveLength(1);
      expect(await isLive('refresh-token', given[0] ?? '')).toBe(false);
      expect(await isRevoked(correlationId)).toBe(true);
    });
  });

  describe('a chain', () => {
    it('makes its live tickets of every kind unknown when it is revoked, while a used ticket stays used', async () => {
      const { ticket: used, correlationId } = await issue('launch-identifier');
      await redeem('launch-identifier', used);
      const live = await Promise.all(kinds.map((kind) => issue(kind, { correlationId, challenge: 'c' })));
      expect(await isRevoked(correlationId)).toBe(false);
      await revoke(correlationId);
      expect(await isRevoked(correlationId)).toBe(true);
      for (const [at, kind] of kinds.entries()) {
        const ticket = live[at]?.ticket ?? '';
        expect(await under().tickets.find(kind, ticket, { extendSeconds: 60 })).toBeUndefined();
        expect(await redeem(kind, ticket, { proofs: ['c'] })).toEqual({ outcome: 'unknown' });
        // A request without the proof gets the same answer, so the answer does not reveal whether the proof
        // was correct.
        expect(await redeem(kind, ticket)).toEqual({ outcome: 'unknown' });
      }
      expect(await redeem('launch-identifier', used)).toEqual({ outcome: 'used', correlationId });
    });

    it('sends the events of its first revocation only, under its own correlation id', async () => {
      const { correlationId } = await issue('refresh-token');
      const [first, second] = [event(randomUUID()), event(correlationId)];
      await revoke(correlationId, 60, [first]);
      await revoke(correlationId, 60, [second]);
      expect(await sentOf([first, second])).toEqual([{ ...first, correlationid: correlationId }]);
    });

    it('has no live tickets after a revocation, even if tickets are issued at the same time', async () => {
      const { ticket, correlationId } = await issue('refresh-token');
      const [redemption, later] = await Promise.all([
        refresh(ticket),
        issue('refresh-token', { correlationId }),
        revoke(correlationId),
      ]);
      const given = 'successor' in redemption ? redemption.successor : undefined;
      for (const each of [ticket, given ?? '', later.ticket]) {
        expect(await isLive('refresh-token', each)).toBe(false);
      }
    });

    it('is not affected by the revocation of another chain', async () => {
      const [one, other] = [await issue('refresh-token'), await issue('refresh-token')];
      await revoke(one.correlationId);
      await refresh(one.ticket);
      expect(await isRevoked(other.correlationId)).toBe(false);
      expect(await refresh(other.ticket)).toMatchObject({ outcome: 'redeemed' });
    });

    waiting.it('ends with all its tickets at its fixed end, despite extensions and successors', async () => {
      const { tickets } = under();
      const { ticket: session } = await issue('launch-session', { chainSeconds: 5 });
      const { ticket: code } = await issue('authorization-code', { chainSeconds: 5 });
      const found = await tickets.find('launch-session', session, { extendSeconds: 1800 });
      expect(found?.chainEndsInSeconds).toBeGreaterThan(0);
      expect(found?.chainEndsInSeconds).toBeLessThanOrEqual(5);
      const first = successorOf(
        await redeem('authorization-code', code, { successor: { kind: 'refresh-token', ttlSeconds: 60 } }),
      );
      await under().pass(2.5);
      // `chainSeconds` of a later ticket is ignored: the first ticket sets the end of the chain.
      const successor = {
        kind: 'refresh-token',
        ttlSeconds: 60,
        chainSeconds: 60,
        isDerived: true,
      } as const;
      const rotation = await refresh(first, { successor });
      expect(rotation).toMatchObject({ outcome: 'redeemed' });
      expect('chainEndsInSeconds' in rotation && rotation.chainEndsInSeconds).toBeLessThanOrEqual(2.5);
      expect(await refresh(first, { successor })).toEqual({
        ...rotation,
        outcome: 'repeated',
        chainEndsInSeconds: expect.any(Number),
      });
      expect(await isLive('launch-session', session)).toBe(true);
      await under().pass(2.6);
      expect(await tickets.find('launch-session', session, { extendSeconds: 1800 })).toBeUndefined();
      expect(await refresh(successorOf(rotation))).toEqual({ outcome: 'unknown' });
      // A repetition within the repeatable window is not answered either, because the used-marker expired
      // with the chain.
      expect(await refresh(first, { successor })).toEqual({ outcome: 'unknown' });
    });

    waiting.it('may contain tickets that expire before the chain ends', async () => {
      const { ticket } = await issue('launch-identifier', { ttlSeconds: 1, chainSeconds: 60 });
      const { ticket: code } = await issue('authorization-code', { chainSeconds: 60 });
      const successor = { kind: 'refresh-token', ttlSeconds: 1 } as const;
      const token = successorOf(await redeem('authorization-code', code, { successor }));
      expect(await isLive('refresh-token', token)).toBe(true);
      await under().pass(1.1);
      expect(await redeem('launch-identifier', ticket)).toEqual({ outcome: 'unknown' });
      expect(await redeem('refresh-token', token)).toEqual({ outcome: 'unknown' });
    });

    waiting.it('ends after the `chainSeconds` of a successor if its first ticket set no end', async () => {
      const { tickets } = under();
      const { ticket } = await issue('launch-token');
      const session = successorOf(
        await redeem('launch-token', ticket, {
          successor: { kind: 'launch-session', ttlSeconds: 60, chainSeconds: 3 },
        }),
      );
      expect(await tickets.find('launch-session', session, { extendSeconds: 60 })).toBeDefined();
      await under().pass(3.1);
      expect(await isLive('launch-session', session)).toBe(false);
    });

    it('can be revoked repeatedly, but only by its owner', async () => {
      const { chains } = under();
      const record = { owner: 'host one', audience: 'partner' };
      const { ticket, correlationId } = await issue('launch-identifier', {
        chainSeconds: 60,
        chainRecord: record,
      });
      const end = (owner: string, id = correlationId, events: CloudEvent[] = []) =>
        chains.revoke(id, { forSeconds: 60, events, owner });
      const sent = [event(correlationId), event(correlationId), event(correlationId)];
      expect(await end('host two', correlationId, sent.slice(0, 1))).toBe(false);
      expect(await end('host one', randomUUID())).toBe(false);
      expect(await isLive('launch-identifier', ticket)).toBe(true);
      expect(await end('host one', correlationId, sent.slice(1, 2))).toBe(true);
      expect(await end('host one', correlationId, sent.slice(2))).toBe(true);
      expect(await end('host two')).toBe(false);
      expect(await isLive('launch-identifier', ticket)).toBe(false);
      expect(await sentOf(sent)).toEqual(sent.slice(1, 2));
    });

    it('is revoked together with its session if the revocation names the claim of its first ticket', async () => {
      const names = Array.from({ length: 8 }, () => randomUUID());
      for (const claim of names) {
        const { ticket, correlationId } = await issue('launch-token', {
          claim: { name: claim, holder: 'OrderTest', ttlSeconds: 60 },
        });
        const successor = { kind: 'launch-session', ttlSeconds: 60 } as const;
        const session = successorOf(await redeem('launch-token', ticket, { successor }));
        const sent = [event(correlationId), event(correlationId)];
        for (const each of sent) {
          await under().chains.revoke(correlationId, { forSeconds: 60, events: [each], claim });
        }
        expect(await isLive('launch-session', session)).toBe(false);
        expect(await sentOf(sent)).toEqual(sent.slice(0, 1));
      }
    });

    waiting.it('has a stored record until it ends, even if it was revoked', async () => {
      const { chains } = under();
      const chainRecord = { owner: 'host', audience: 'partner' };
      const { correlationId } = await issue('launch-identifier', { chainSeconds: 3, chainRecord });
      await revoke(correlationId);
      expect(await chains.findRecord(correlationId)).toEqual(chainRecord);
      expect(await chains.findRecord(randomUUID())).toBeUndefined();
      await under().pass(3.1);
      expect(await chains.findRecord(correlationId)).toBeUndefined();
    });

    waiting.it(
      'cannot be revoked by its owner after its end; a chain record requires `chainSeconds` and excludes a claim',
      async () => {
        const { chains } = under();
        const chainRecord = { owner: 'host', audience: 'partner' };
        const { correlationId } = await issue('launch-identifier', { chainSeconds: 1, chainRecord });
        await under().pass(1.1);
        expect(await chains.revoke(correlationId, { forSeconds: 60, events: [], owner: 'host' })).toBe(false);
        const claim = { name: 'c', holder: 'h', ttlSeconds: 60 };
        await expect(issue('launch-identifier', { chainRecord })).rejects.toThrow(TypeError);
        await expect(issue('launch-identifier', { chainSeconds: 60, chainRecord, claim })).rejects.toThrow(
          TypeError,
        );
      },
    );

    describe('with labels', () => {
      const aRecord = { owner: 'host', audience: 'partner' };
      const begin = async (chainLabels: string[], owner = `host ${randomUUID()}`, chainSeconds = 60) => {
        const chainRecord = { ...aRecord, owner };
        const chain = await issue('launch-identifier', { chainSeconds, chainRecord, chainLabels });
        return { ...chain, owner };
      };
      const found = async (owner: string, ...labels: string[]) =>
        (await under().chains.list({ owner, labels })).toSorted();

      it('is found by its owner and by all of its labels, but not by other labels or owners', async () => {
        const { owner, correlationId: one } = await begin(['user a', 'practice b']);
        const { correlationId: two } = await begin(['user a', 'practice c'], owner);
        await begin(['user a', 'practice b']);
        expect(await found(owner, 'user a')).toEqual([one, two].toSorted());
        expect(await found(owner, 'practice c')).toEqual([two]);
        expect(await found(owner, 'practice b', 'user a')).toEqual([one]);
        for (const labels of [['user A'], ['user'], ['*'], ['user a', 'practice d'], ['practice a']])
          expect(await found(owner, ...labels)).toEqual([]);
        expect(await found('another host', 'user a')).toEqual([]);
      });

      it('is found after its first ticket was redeemed, and among any number of chains in any shard', async () => {
        const { owner, correlationId, ticket } = await begin(['user a']);
        await redeem('launch-identifier', ticket, { successor: { kind: 'refresh-token', ttlSeconds: 60 } });
        const others = await Promise.all(Array.from({ length: 60 }, () => begin(['user a'], owner)));
        const ids = others.map((other) => other.correlationId);
        expect(await found(owner, 'user a')).toEqual([correlationId, ...ids].toSorted());
      });

      it('is not found after it was revoked by its id or by a replay', async () => {
        const { owner, correlationId, ticket } = await begin(['user a']);
        const { ticket: replayed } = await begin(['user a'], owner);
        await redeem('launch-identifier', replayed, { onReplay: onReplay() });
        await redeem('launch-identifier', replayed, { onReplay: onReplay() });
        expect(await found(owner, 'user a')).toEqual([correlationId]);
        await revoke(correlationId);
        expect(await found(owner, 'user a')).toEqual([]);
        expect(await isLive('launch-identifier', ticket)).toBe(false);
      });

      waiting.it('is not found after its end, but later chains with the same labels are found', async () => {
        const { owner, correlationId } = await begin(['user a']);
        // Begins so many chains that, in some shards, a lasting chain is stored between chains that end soon.
        const beginMany = (seconds: number) =>
          Promise.all(Array.from({ length: 30 }, () => begin(['user a'], owner, seconds)));
        await beginMany(1);
        const lasting = await beginMany(60);
        await beginMany(1);
        await under().pass(1.1);
        const ids = [correlationId, ...lasting.map((chain) => chain.correlationId)];
        expect(await found(owner, 'user a')).toEqual(ids.toSorted());
        const later = await begin(['user a'], owner, 60);
        expect(await found(owner, 'user a')).toEqual([...ids, later.correlationId].toSorted());
      });

      it('is issued only with a stored record, and a search without a label throws a TypeError', async () => {
        const unrecorded = { chainSeconds: 60, chainLabels: ['user a'] };
        await expect(issue('launch-identifier', unrecorded)).rejects.toThrow(TypeError);
        await expect(found('host')).rejects.toThrow(TypeError);
      });
    });

    it('can be found by its live, used or revoked ticket', async () => {
      const { chains } = under();
      const { ticket, correlationId } = await issue('launch-identifier');
      const find = () => chains.findOf('launch-identifier', ticket);
      expect(await find()).toBe(correlationId);
      await redeem('launch-identifier', ticket);
      await revoke(correlationId);
      expect(await find()).toBe(correlationId);
      expect(await chains.findOf('launch-token', ticket)).toBeUndefined();
      expect(await chains.findOf('launch-identifier', 'nonsense')).toBeUndefined();
    });

    waiting.it('stays revoked for the longest requested time', async () => {
      const [one, other] = [randomUUID(), randomUUID()];
      await revoke(one, 60);
      await revoke(one, 1);
      await revoke(other, 1);
      await under().pass(1.1);
      expect(await isRevoked(one)).toBe(true);
      expect(await isRevoked(other)).toBe(false);
    });
  });
}
