import { createHash, randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { anEvent, anIssue, successorOf } from '@clinical-launch/testing/ticket-fixtures';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { ChainUse } from '../src/chains.ts';
import {
  type AdditionalIssueRequest,
  type Claim,
  type IssueRequest,
  type RedeemRequest,
  type SingleUse,
  type TicketKind,
  ticketPurposes,
} from '../src/tickets.ts';
import type { TicketsUnderTest } from './tickets-under-test.ts';

/** The option `onReplay` of a redemption: a replay revokes the chain for an hour. */
const onReplay = (...events: CloudEvent[]) => ({ revokeForSeconds: 3600, events });
const aProof = (forSeconds = 60): SingleUse => ({ name: `proof ${randomUUID()}`, forSeconds });
const aClaim = (changes: Partial<Claim> = {}): Claim => ({
  name: `claim ${randomUUID()}`,
  holder: 'OrderTest',
  ttlSeconds: 60,
  ...changes,
});
/** Another ticket of the same chain, which was never issued. */
const guess = (ticket: string) => `${ticket.slice(0, -1)}${ticket.endsWith('A') ? 'B' : 'A'}`;
const many = <Result>(count: number, act: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));
/** Counts results by their outcome. */
const tally = (results: readonly { readonly outcome: string }[]) =>
  Object.fromEntries(
    [...Map.groupBy(results, ({ outcome }) => outcome)].map(([key, { length }]) => [key, length]),
  );

/**
 * Documents the outcomes of `Tickets`, `Chains` and `Once`, and their races. The model test (tickets-model.test.ts)
 * shows that every implementation has the same outcomes in any sequence of operations.
 */
export function describeTickets(name: string, create: () => Promise<TicketsUnderTest>): void {
  describe(`tickets (${name})`, () => {
    let under: TicketsUnderTest;
    beforeAll(async () => {
      under = await create();
    });

    const issue = async (kind: TicketKind, changes: Partial<IssueRequest> = {}) => {
      const request = anIssue(changes);
      const issued = await under.tickets.issue(kind, request);
      if (issued.outcome !== 'issued') throw new Error(issued.outcome);
      return { ticket: issued.ticket, correlationId: request.correlationId };
    };
    const redeem = (kind: TicketKind, ticket: string, request: Partial<RedeemRequest> = {}) =>
      under.tickets.redeem(kind, ticket, { events: [], ...request });
    const token = (changes?: Partial<IssueRequest>) => issue('launch-token', changes);
    const redeemToken = (ticket: string, proofs: string[] = []) => redeem('launch-token', ticket, { proofs });
    /** Redeems a refresh token as the token endpoint does. */
    const refresh = (ticket: string, changes: Partial<RedeemRequest> = {}) =>
      redeem('refresh-token', ticket, {
        successor: { kind: 'refresh-token', ttlSeconds: 600, detail: { scope: 'openid' }, isDerived: true },
        repeatableSeconds: 30,
        onReplay: onReplay(),
        ...changes,
      });
    const refreshed = async (ticket: string, changes?: Partial<RedeemRequest>) =>
      successorOf(await refresh(ticket, changes));
    const isLive = async (kind: TicketKind, ticket: string) =>
      (await under.tickets.find(kind, ticket)) !== undefined;
    const revoke = (correlationId: string, changes: object = {}) =>
      under.chains.revoke(correlationId, { forSeconds: 3600, events: [], ...changes });
    const isRevoked = (correlationId: string) => under.chains.isRevoked(correlationId);
    /** Returns those of the events that were appended to the outbox. */
    const sentOf = async (...events: CloudEvent[]) => {
      const mine = new Set(events.map(({ id }) => id));
      return (await under.outbox()).filter(({ id }) => mine.has(id));
    };

    describe('a ticket', () => {
      it('has at least 256 bits in the Base64URL alphabet, none of them fixed, whether random or derived', async () => {
        const drawn = await many(100, async () => (await issue('refresh-token')).ticket);
        const derived = await Promise.all(drawn.map((ticket) => refreshed(ticket)));
        expect(new Set([...drawn, ...derived]).size).toBe(200);
        for (const tickets of [drawn, derived]) {
          for (const ticket of tickets) expect(ticket).toMatch(/^[A-Za-z0-9_-]{89}$/);
          const bits = tickets.map((ticket) => Buffer.from(ticket.slice(-43), 'base64url'));
          for (let bit = 0; bit < 256; bit += 1)
            expect(new Set(bits.map((bytes) => (bytes.readUInt8(bit >> 3) >> (bit & 7)) & 1)).size).toBe(2);
        }
      });

      it('contains neither the secret nor a digest of the ticket from which it was derived', async () => {
        const { ticket } = await issue('refresh-token');
        const successor = await refreshed(ticket);
        const secret = ticket.slice(-43);
        const texts = [ticket, secret, `refresh-token ${ticket}`, `refresh-token:${ticket}`];
        for (const input of [...texts, ...texts.map((text) => Buffer.from(text, 'base64url'))])
          expect(successor).not.toContain(createHash('sha256').update(input).digest('base64url'));
        expect(successor).not.toContain(secret);
      });

      it('returns its context, detail and correlation id unchanged, once, and is then `used`, whatever the proof', async () => {
        const context = { text: 'Ó “Zoë” 𠮷 \u0000', list: [1, null, { deep: true }] };
        const detail = { redirectUri: 'app://auth' };
        const { ticket, correlationId } = await token({ context, detail, challenge: 'c' });
        for (const proofs of [['d'], [], ['', 'C', 'cc']])
          expect(await redeemToken(ticket, proofs)).toEqual({ outcome: 'mismatch', correlationId });
        expect(await redeemToken(ticket, ['c'])).toEqual({
          outcome: 'redeemed',
          context,
          detail,
          correlationId,
        });
        for (const proofs of [['c'], ['other'], []])
          expect(await redeemToken(ticket, proofs)).toEqual({ outcome: 'used', correlationId });
      });

      it('throws a TypeError if it is misused', async () => {
        const record = { owner: 'host', audience: 'partner' };
        const drawn = { kind: 'refresh-token', ttlSeconds: 60 } as const;
        const { ticket } = await issue('refresh-token');
        const misuses = [
          { chainRecord: record },
          { chainRecord: record, chainSeconds: 60, claim: aClaim() },
          { chainLabels: ['user a'], chainSeconds: 60 },
        ].map((request) => issue('launch-identifier', request));
        const unrepeatable = [{ successor: drawn }, { successor: { ...drawn, isDerived: false } }, {}].map(
          (request) => redeem('refresh-token', ticket, { ...request, repeatableSeconds: 1 }),
        );
        const unlabelled = under.chains.list({ owner: 'host', labels: [] });
        for (const misuse of [...misuses, ...unrepeatable, unlabelled])
          await expect(misuse).rejects.toThrow(TypeError);
        expect(await isLive('refresh-token', ticket)).toBe(true);
      });

      it('is redeemed for exactly one of 200 simultaneous requests, and the others get its notice', async () => {
        const { ticket } = await token({ challenge: 'c', notice: { content: 'page', ttlSeconds: 60 } });
        const redemptions = await many(200, () => redeemToken(ticket, ['c']));
        expect(tally(redemptions)).toEqual({ redeemed: 1, used: 199 });
        expect(redemptions.filter((redemption) => 'notice' in redemption)).toHaveLength(199);
      });

      it('is `unknown` if it was never issued, is of another kind or is malformed', async () => {
        const { ticket } = await token({ notice: { content: 'page', ttlSeconds: 60 } });
        const malformed = [
          '',
          'x',
          '\u0000',
          'é'.repeat(43),
          'A'.repeat(43),
          `${ticket}A`,
          'A'.repeat(10_000),
        ];
        for (const stranger of [...malformed, guess(ticket)])
          expect(await redeemToken(stranger)).toEqual({ outcome: 'unknown' });
        expect(await redeem('launch-session', ticket)).toEqual({ outcome: 'unknown' });
        expect(await redeemToken(ticket)).toMatchObject({ outcome: 'redeemed' });
      });

      it('is `unknown` when it has expired, but `used` if it was used before', async () => {
        const [expired, used] = [await token({ ttlSeconds: 10 }), await token({ ttlSeconds: 10 })];
        await redeemToken(used.ticket);
        await under.pass(20);
        expect(await redeemToken(expired.ticket)).toEqual({ outcome: 'unknown' });
        expect(await redeemToken(used.ticket)).toMatchObject({ outcome: 'used' });
      });

      it('returns its notice with each refusal, until the notice expires', async () => {
        const notice = { content: { page: 'https://pms.example/ó' }, ttlSeconds: 600 };
        const { ticket, correlationId } = await token({ notice, challenge: 'c' });
        const expiring = await token({ notice, ttlSeconds: 10 });
        const refused = { correlationId, notice: notice.content };
        expect(await redeemToken(ticket, ['d'])).toEqual({ outcome: 'mismatch', ...refused });
        expect(await redeemToken(ticket, ['c'])).not.toHaveProperty('notice');
        expect(await redeemToken(ticket, ['c'])).toEqual({ outcome: 'used', ...refused });
        await under.pass(20);
        expect(await redeemToken(expiring.ticket)).toEqual({ outcome: 'unknown', notice: notice.content });
        await under.pass(600);
        expect(await redeemToken(ticket)).toEqual({ outcome: 'used', correlationId });
      });

      it('has a successor with its context and correlation id, but without its detail and notice', async () => {
        const notice = { content: 'page', ttlSeconds: 60 };
        const { ticket, correlationId } = await token({ context: { launch: 1 }, detail: 'own', notice });
        const successor = { kind: 'launch-session', ttlSeconds: 60, detail: { step: 2 } } as const;
        const session = successorOf(await redeem('launch-token', ticket, { successor }));
        const expected = { context: { launch: 1 }, detail: { step: 2 }, correlationId };
        expect(await under.tickets.find('launch-session', session)).toEqual(expected);
        expect(await isLive('launch-token', session)).toBe(false);
        await redeem('launch-session', session);
        expect(await redeem('launch-session', session)).toEqual({ outcome: 'used', correlationId });
      });

      it('is found while it is live, as often as asked, and each find can extend it', async () => {
        const [session, used] = [
          await issue('launch-session', { ttlSeconds: 30 }),
          await issue('launch-session'),
        ];
        await redeem('launch-session', used.ticket);
        expect(await isLive('launch-session', used.ticket)).toBe(false);
        for (let look = 0; look < 3; look += 1) {
          await under.pass(20);
          const found = await under.tickets.find('launch-session', session.ticket, { extendSeconds: 30 });
          expect(found).toMatchObject({ context: { patient: 'one' } });
        }
        await under.pass(40);
        expect(await isLive('launch-session', session.ticket)).toBe(false);
      });

      it('sends the events of its issue and its redemption under its correlation id, but none of a refusal', async () => {
        const [issued, claimed, redeemed, ...refused] = [
          anEvent(),
          anEvent(),
          anEvent(),
          anEvent(),
          anEvent(),
        ];
        const claim = aClaim();
        const { ticket, correlationId } = await token({ claim, challenge: 'c', events: [issued] });
        await under.tickets.issue('launch-token', anIssue({ claim, events: [claimed] }));
        await redeem('launch-token', ticket, { proofs: ['d'], events: refused.slice(0, 1) });
        await redeem('launch-token', ticket, { proofs: ['c'], events: [redeemed] });
        await redeem('launch-token', ticket, { proofs: ['c'], events: refused.slice(1) });
        expect(await sentOf(issued, claimed, redeemed, ...refused)).toEqual([
          issued,
          { ...redeemed, correlationid: correlationId },
        ]);
      });
    });

    describe('a claim', () => {
      const outcome = async (claim: ReturnType<typeof aClaim>) =>
        (await under.tickets.issue('launch-token', anIssue({ claim }))).outcome;

      it('is accepted once, even among simultaneous issues, until its lifetime ends', async () => {
        const claim = aClaim();
        const issues = await many(50, () => under.tickets.issue('launch-token', anIssue({ claim })));
        expect(tally(issues)).toEqual({ issued: 1, claimed: 49 });
        await under.pass(70);
        expect(await outcome(claim)).toBe('issued');
      });

      it('is shared by a launch that lists its holder in `joins`, and keeps its holder', async () => {
        const claim = aClaim({ holder: 'UpdateTest', joins: ['OrderTest'] });
        expect(await outcome(claim)).toBe('issued');
        expect(await outcome(claim)).toBe('claimed');
        expect(await outcome({ ...claim, holder: 'PatientReport', joins: ['UpdateTest'] })).toBe('issued');
        expect(await outcome({ ...claim, joins: ['UpdateTest'] })).toBe('issued');
        expect(await outcome({ ...claim, holder: 'OrderTest', joins: [] })).toBe('claimed');
      });
    });

    it('a name is used once until its lifetime ends, even simultaneously, and only that use is sent', async () => {
      const name = randomUUID();
      const events = Array.from({ length: 20 }, () => anEvent());
      const use = (...sent: CloudEvent[]) => under.once.use(name, { forSeconds: 60, events: sent });
      const uses = await Promise.all(events.map((event) => use(event)));
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await sentOf(...events)).toEqual([events[uses.indexOf(true)]]);
      await under.pass(70);
      expect([await use(), await use()]).toEqual([true, false]);
    });

    describe('a refresh token', () => {
      it('returns the same answer when it is reused within the grace period, without an event', async () => {
        const { ticket, correlationId } = await issue('refresh-token', { detail: 'first' });
        const [first, again, replayed] = [anEvent(), anEvent(), anEvent()];
        const redeemed = await refresh(ticket, { events: [first] });
        const repeated = await refresh(ticket, { events: [again], onReplay: onReplay(replayed) });
        expect(redeemed).toMatchObject({
          outcome: 'redeemed',
          detail: 'first',
          successor: expect.any(String),
        });
        expect(repeated).toEqual({ ...redeemed, outcome: 'repeated' });
        expect(await isRevoked(correlationId)).toBe(false);
        expect(await sentOf(first, again, replayed)).toHaveLength(1);
      });

      it('returns the newest successor, never a used one, until its successor was used too long ago', async () => {
        const { ticket, correlationId } = await issue('refresh-token');
        const brief = { repeatableSeconds: 300, repeatableAfterUseSeconds: 10 };
        const second = await refreshed(ticket, brief);
        await under.pass(20);
        expect(await refresh(ticket, brief)).toMatchObject({ outcome: 'repeated', successor: second });
        const third = await refreshed(second, brief);
        const fourth = await refreshed(third, brief);
        for (const used of [ticket, second, third])
          expect(await refresh(used, brief)).toMatchObject({ outcome: 'repeated', successor: fourth });
        await under.pass(20);
        expect(await refresh(ticket, brief)).toEqual({ outcome: 'used', correlationId });
        expect([await isLive('refresh-token', fourth), await isRevoked(correlationId)]).toEqual([
          false,
          true,
        ]);
      });

      it('and its successor have one live successor after fifty simultaneous uses of both', async () => {
        const { ticket, correlationId } = await issue('refresh-token');
        const events = Array.from({ length: 50 }, () => anEvent());
        const all = await many(50, (index) => refresh(ticket, { events: events.slice(index, index + 1) }));
        expect(tally(all)).toEqual({ redeemed: 1, repeated: 49 });
        expect(await sentOf(...events)).toHaveLength(1);
        const second = await refreshed(ticket);
        const both = await many(50, (index) => refresh(index % 2 === 0 ? ticket : second));
        expect(tally(both)).toEqual({ redeemed: 1, repeated: 49 });
        const third = await refreshed(ticket);
        expect(new Set(both.map(successorOf).filter((each) => each !== second))).toEqual(new Set([third]));
        expect([await isLive('refresh-token', third), await isRevoked(correlationId)]).toEqual([true, false]);
      });

      it('revokes the whole token family, with one event, when it is reused after the grace period', async () => {
        const { ticket, correlationId } = await issue('refresh-token');
        const live = await refreshed(ticket, { repeatableSeconds: 10 });
        await under.pass(20);
        expect(await isLive('refresh-token', live)).toBe(true);
        const revoked = anEvent();
        for (let replay = 0; replay < 2; replay += 1)
          expect(await refresh(ticket, { onReplay: onReplay(revoked) })).toEqual({
            outcome: 'used',
            correlationId,
          });
        expect(await refresh(live)).toEqual({ outcome: 'unknown' });
        // The event has the correlation id of the ticket's chain, not the correlation id of the request.
        expect(await sentOf(revoked)).toEqual([{ ...revoked, correlationid: correlationId }]);
      });

      it('is repeated only for a request that allows it, with a valid proof, while its chain is not revoked', async () => {
        const { ticket, correlationId } = await issue('refresh-token', { challenge: 'c' });
        const derived = {
          successor: { kind: 'refresh-token', ttlSeconds: 60, isDerived: true },
          repeatableSeconds: 30,
        } as const;
        const successor = await refreshed(ticket, { proofs: ['c'] });
        const used = { outcome: 'used', correlationId };
        expect(await redeem('refresh-token', ticket, { proofs: ['c'] })).toEqual(used);
        for (const proofs of [['d'], []])
          expect(await redeem('refresh-token', ticket, { ...derived, proofs })).toEqual(used);
        const repeat = () => redeem('refresh-token', ticket, { ...derived, proofs: ['c'] });
        expect(await repeat()).toMatchObject({ outcome: 'repeated', successor });
        await revoke(correlationId);
        expect(await repeat()).toEqual(used);
      });

      it('is exhausted at the limit of its chain, even if it is used simultaneously, and its chain is not revoked', async () => {
        const limit = { redemptions: 5 };
        const { ticket, correlationId } = await issue('refresh-token', { chainSeconds: 60 });
        const sent = anEvent();
        const all = await many(20, () => refresh(ticket, { limit }));
        expect(tally(all)).toEqual({ redeemed: 1, repeated: 4, exhausted: 15 });
        const next = successorOf(all.find(({ outcome }) => outcome === 'redeemed') ?? { outcome: 'unknown' });
        expect(await refresh(next, { limit, events: [sent] })).toEqual({
          outcome: 'exhausted',
          correlationId,
          chainEndsInSeconds: expect.any(Number),
        });
        expect([await isLive('refresh-token', next), await isRevoked(correlationId)]).toEqual([true, false]);
        expect(await sentOf(sent)).toEqual([]);
        const other = await issue('refresh-token', { chainSeconds: 60 });
        expect(await refresh(other.ticket, { limit })).toMatchObject({ outcome: 'redeemed' });
      });
    });

    describe('an authorization code', () => {
      const successor = { kind: 'refresh-token', ttlSeconds: 600 } as const;
      const wrong = { proofs: ['wrong'], onMismatch: { limit: 5, revokeForSeconds: 60, events: [] } };

      it('revokes its tokens when it is replayed with any proof, and only if the request says so', async () => {
        for (const proofs of [['c'], ['wrong'], []]) {
          const { ticket: code, correlationId } = await issue('authorization-code', { challenge: 'c' });
          const newest = await refreshed(
            successorOf(await redeem('authorization-code', code, { proofs: ['c'], successor })),
          );
          const used = { outcome: 'used', correlationId };
          expect(await redeem('authorization-code', code, { proofs })).toEqual(used);
          expect(await isLive('refresh-token', newest)).toBe(true);
          expect(await redeem('authorization-code', code, { proofs, onReplay: onReplay() })).toEqual(used);
          expect(await isLive('refresh-token', newest)).toBe(false);
        }
      });

      it('cannot be redeemed after the fifth wrong proof, and one event is sent', async () => {
        const { ticket: code, correlationId } = await issue('authorization-code', { challenge: 'c' });
        const ended = anEvent();
        const onMismatch = { ...wrong.onMismatch, events: [ended] };
        const tries = await many(20, () => redeem('authorization-code', code, { ...wrong, onMismatch }));
        expect(tally(tries)).toEqual({ mismatch: 5, used: 15 });
        expect(await redeem('authorization-code', code, { proofs: ['c'] })).toEqual({
          outcome: 'used',
          correlationId,
        });
        expect(await isRevoked(correlationId)).toBe(true);
        expect(await sentOf(ended)).toEqual([{ ...ended, correlationid: correlationId }]);
      });

      it('leaves no live token after fifty simultaneous uses', async () => {
        const { ticket, correlationId } = await issue('authorization-code');
        const request = { successor, onReplay: onReplay() };
        const all = await many(50, () => redeem('authorization-code', ticket, request));
        expect(tally(all)).toEqual({ redeemed: 1, used: 49 });
        const given = all.flatMap((each) => (each.outcome === 'redeemed' ? [successorOf(each)] : []));
        expect([await isLive('refresh-token', given[0] ?? ''), await isRevoked(correlationId)]).toEqual([
          false,
          true,
        ]);
      });
    });

    describe('a chain', () => {
      const record = { owner: 'host one', audience: 'partner' };

      it('makes its live tickets of every kind unknown when it is revoked, while a used ticket stays used', async () => {
        const kinds = Object.keys(ticketPurposes) as TicketKind[];
        const { ticket: used, correlationId } = await issue('launch-identifier');
        await redeem('launch-identifier', used);
        const challenged = { correlationId, challenge: 'c' };
        const live = await Promise.all(
          kinds.map(async (kind) => ({ kind, ...(await issue(kind, challenged)) })),
        );
        expect(await isRevoked(correlationId)).toBe(false);
        await revoke(correlationId);
        expect(await isRevoked(correlationId)).toBe(true);
        for (const { kind, ticket } of live) {
          expect(await under.tickets.find(kind, ticket, { extendSeconds: 60 })).toBeUndefined();
          // A request without the proof gets the same answer, which does not reveal whether the proof was correct.
          for (const proofs of [['c'], []])
            expect(await redeem(kind, ticket, { proofs })).toEqual({ outcome: 'unknown' });
        }
        expect(await redeem('launch-identifier', used)).toEqual({ outcome: 'used', correlationId });
      });

      it('has no live tickets after a revocation, even if tickets are issued at the same time', async () => {
        const { ticket, correlationId } = await issue('refresh-token');
        const other = await issue('refresh-token');
        const [redemption, later] = await Promise.all([
          refresh(ticket),
          issue('refresh-token', { correlationId }),
          revoke(correlationId),
        ]);
        const given = 'successor' in redemption ? redemption.successor : undefined;
        for (const each of [ticket, given ?? '', later.ticket])
          expect(await isLive('refresh-token', each)).toBe(false);
        expect(await isLive('refresh-token', other.ticket)).toBe(true);
      });

      it('is revoked for the longest requested time, and only its first revocation is sent', async () => {
        const [one, other] = [randomUUID(), randomUUID()];
        const [first, second] = [anEvent(), anEvent()];
        await revoke(one, { events: [first] });
        await revoke(one, { forSeconds: 10, events: [second] });
        await revoke(other, { forSeconds: 10 });
        await under.pass(20);
        expect([await isRevoked(one), await isRevoked(other)]).toEqual([true, false]);
        expect(await sentOf(first, second)).toEqual([{ ...first, correlationid: one }]);
      });

      it('is revoked by its owner alone, as often as asked, until it ends', async () => {
        const { ticket, correlationId } = await issue('launch-identifier', {
          chainSeconds: 60,
          chainRecord: record,
        });
        const sent = [anEvent(), anEvent(), anEvent()];
        const end = (owner: string, event?: CloudEvent, id = correlationId) =>
          revoke(id, { owner, events: event === undefined ? [] : [event] });
        expect([await end('host two', sent[0]), await end('host one', undefined, randomUUID())]).toEqual([
          false,
          false,
        ]);
        expect(await isLive('launch-identifier', ticket)).toBe(true);
        expect([await end('host one', sent[1]), await end('host one', sent[2])]).toEqual([true, true]);
        expect(await isLive('launch-identifier', ticket)).toBe(false);
        expect(await sentOf(...sent)).toEqual([{ ...sent[1], correlationid: correlationId }]);
        await under.pass(70);
        expect(await end('host one')).toBe(false);
      });

      it('is revoked together with its session if the revocation names the claim of its first ticket', async () => {
        for (let round = 0; round < 8; round += 1) {
          const claim = aClaim();
          const { ticket, correlationId } = await token({ claim });
          const successor = { kind: 'launch-session', ttlSeconds: 60 } as const;
          const session = successorOf(await redeem('launch-token', ticket, { successor }));
          const sent = [anEvent(correlationId), anEvent(correlationId)];
          for (const event of sent) await revoke(correlationId, { claim: claim.name, events: [event] });
          expect(await isLive('launch-session', session)).toBe(false);
          expect(await sentOf(...sent)).toEqual(sent.slice(0, 1));
        }
      });

      it('ends with all its tickets at its fixed end, despite extensions and successors', async () => {
        const { ticket: session } = await issue('launch-session', { chainSeconds: 500 });
        const { ticket: code } = await issue('authorization-code', { chainSeconds: 500 });
        const extended = await under.tickets.find('launch-session', session, { extendSeconds: 1800 });
        expect(extended?.chainEndsInSeconds).toBeGreaterThan(400);
        expect(extended?.chainEndsInSeconds).toBeLessThanOrEqual(500);
        const lasting = { kind: 'refresh-token', ttlSeconds: 6000, isDerived: true } as const;
        const first = successorOf(await redeem('authorization-code', code, { successor: lasting }));
        await under.pass(250);
        // `chainSeconds` of a later ticket is ignored: the first ticket sets the end of the chain.
        const rotation = await refresh(first, { successor: { ...lasting, chainSeconds: 6000 } });
        expect('chainEndsInSeconds' in rotation && rotation.chainEndsInSeconds).toBeLessThanOrEqual(250);
        expect(await isLive('launch-session', session)).toBe(true);
        await under.pass(260);
        expect(await isLive('launch-session', session)).toBe(false);
        expect(await refresh(successorOf(rotation))).toEqual({ outcome: 'unknown' });
      });

      it('is found by its live, used or revoked ticket, and has its record until it ends', async () => {
        const { ticket, correlationId } = await issue('launch-identifier', {
          chainSeconds: 60,
          chainRecord: record,
        });
        const find = () => under.chains.findOf('launch-identifier', ticket);
        expect(await find()).toBe(correlationId);
        await redeem('launch-identifier', ticket);
        await revoke(correlationId);
        expect(await find()).toBe(correlationId);
        expect(await under.chains.findOf('launch-token', ticket)).toBeUndefined();
        expect(await under.chains.findOf('launch-identifier', 'nonsense')).toBeUndefined();
        expect(await under.chains.findRecord(correlationId)).toEqual(record);
        expect(await under.chains.findRecord(randomUUID())).toBeUndefined();
        await under.pass(70);
        expect(await under.chains.findRecord(correlationId)).toBeUndefined();
      });

      describe('with labels', () => {
        const begin = (chainLabels: string[], owner: string, chainSeconds = 600) =>
          issue('launch-identifier', { chainSeconds, chainLabels, chainRecord: { ...record, owner } });
        const list = async (owner: string, ...labels: string[]) =>
          (await under.chains.list({ owner, labels })).toSorted();
        const idsOf = (...begun: { correlationId: string }[]) =>
          begun.map(({ correlationId }) => correlationId).toSorted();

        it('is listed among any number of chains in any shard, until it ends or is revoked', async () => {
          const owner = randomUUID();
          const [ended, revoked, replayed] = await many(3, () => begin(['a'], owner));
          // In some shards, a lasting chain is stored between chains that end soon.
          await many(30, () => begin(['a'], owner, 60));
          const lasting = await many(30, () => begin(['a'], owner));
          await many(30, () => begin(['a'], owner, 60));
          await redeem('launch-identifier', lasting[0]?.ticket ?? '');
          await revoke(revoked?.correlationId ?? '');
          for (let use = 0; use < 2; use += 1)
            await redeem('launch-identifier', replayed?.ticket ?? '', { onReplay: onReplay() });
          await under.pass(70);
          expect(await list(owner, 'a')).toEqual(idsOf(...lasting, ...(ended === undefined ? [] : [ended])));
        });
      });
    });

    describe('an additional ticket in the chain of a live ticket', () => {
      const push = (ticket: string, changes: Partial<AdditionalIssueRequest> = {}) =>
        under.tickets.issueAdditional('pushed-request', {
          live: { kind: 'launch-identifier', ticket, proofs: ['c'] },
          context: { pushed: 'one' },
          challenge: 'd',
          ttlSeconds: 600,
          limit: { tickets: 100, seconds: 60 },
          ...changes,
        });
      const pushed = async (ticket: string, changes?: Partial<AdditionalIssueRequest>) => {
        const issued = await push(ticket, changes);
        return 'ticket' in issued ? issued.ticket : '';
      };
      const aLaunch = (changes = {}) => issue('launch-identifier', { challenge: 'c', ...changes });
      const redeemPushed = (ticket: string) => redeem('pushed-request', ticket, { proofs: ['d'] });

      it('is redeemed once with its own context, and leaves the first ticket live', async () => {
        const { ticket, correlationId } = await aLaunch();
        const additional = await pushed(ticket);
        expect(await redeem('pushed-request', additional, { proofs: ['c'] })).toMatchObject({
          outcome: 'mismatch',
        });
        const redeemed = {
          outcome: 'redeemed',
          context: { pushed: 'one' },
          detail: undefined,
          correlationId,
        };
        expect(await redeemPushed(additional)).toEqual(redeemed);
        expect(await redeemPushed(additional)).toMatchObject({ outcome: 'used' });
        expect(await isLive('launch-identifier', ticket)).toBe(true);
      });

      it('replaces the previous one, even if twenty are issued at the same time', async () => {
        const { ticket } = await aLaunch();
        const older = await pushed(ticket);
        const all = await many(20, () => pushed(ticket));
        expect(await redeemPushed(older)).toEqual({ outcome: 'unknown' });
        const live = await Promise.all(all.map((one) => isLive('pushed-request', one)));
        expect(live.filter(Boolean)).toHaveLength(1);
      });

      it('is issued only for a live ticket with a correct proof', async () => {
        const [used, ended, live] = [await aLaunch(), await aLaunch(), await aLaunch()];
        await redeem('launch-identifier', used.ticket, { proofs: ['c'] });
        await revoke(ended.correlationId);
        for (const ticket of [used.ticket, ended.ticket, guess(live.ticket), 'nonsense'])
          expect(await push(ticket)).toEqual({ outcome: 'unknown' });
        for (const proofs of [[], ['d']]) {
          const request = { live: { kind: 'launch-identifier', ticket: live.ticket, proofs } } as const;
          expect(await push(live.ticket, request)).toEqual({ outcome: 'mismatch' });
        }
      });

      it('is limited if too many were issued recently, and the previous one stays live', async () => {
        const { ticket, correlationId } = await aLaunch({ ttlSeconds: 600 });
        const limit = { tickets: 2, seconds: 60 };
        await pushed(ticket, { limit });
        await under.pass(40);
        const last = await pushed(ticket, { limit });
        const limited = { outcome: 'limited', waitSeconds: expect.any(Number), correlationId };
        expect(await push(ticket, { limit })).toEqual(limited);
        expect(await isLive('pushed-request', last)).toBe(true);
        expect(await push((await aLaunch()).ticket, { limit })).toMatchObject({ outcome: 'issued' });
        await under.pass(40);
        // The first ticket no longer counts towards the limit, but the second ticket does.
        expect(await push(ticket, { limit })).toMatchObject({ outcome: 'issued' });
        expect(await push(ticket, { limit })).toMatchObject({ outcome: 'limited' });
      });
    });

    describe('a single-use proof', () => {
      it('is used up by a redemption or its repetition, and refused at the next redemption', async () => {
        const [one, other] = [aProof(), aProof()];
        const { ticket } = await issue('refresh-token');
        const next = await refreshed(ticket, { proof: one });
        expect(await refresh(ticket, { proof: other })).toMatchObject({ outcome: 'repeated' });
        for (const proof of [one, other])
          expect(await refresh(next, { proof })).toEqual({ outcome: 'used-proof' });
        expect(await refresh(next, { proof: aProof() })).toMatchObject({ outcome: 'redeemed' });
      });

      it('is refused when replayed with its ticket, without revoking the chain', async () => {
        const { ticket: code, correlationId } = await issue('authorization-code');
        const request = { proof: aProof(), onReplay: onReplay() };
        await redeem('authorization-code', code, request);
        expect(await redeem('authorization-code', code, request)).toEqual({ outcome: 'used-proof' });
        expect(await isRevoked(correlationId)).toBe(false);
        const other = { ...request, proof: aProof() };
        expect(await redeem('authorization-code', code, other)).toMatchObject({ outcome: 'used' });
        expect(await isRevoked(correlationId)).toBe(true);
      });
    });

    describe('a use of a chain', () => {
      const use = (correlationId: string, changes: Partial<ChainUse> = {}) =>
        under.chains.use(correlationId, { limit: { uses: 100, seconds: 60 }, events: [], ...changes });

      it('uses up its proof once among fifty simultaneous uses, for its own chain and until the proof expires', async () => {
        const [proof, correlationId] = [aProof(), randomUUID()];
        const events = Array.from({ length: 50 }, () => anEvent());
        const uses = await Promise.all(events.map((event) => use(correlationId, { proof, events: [event] })));
        expect(tally(uses)).toEqual({ accepted: 1, 'used-proof': 49 });
        expect(await sentOf(...events)).toMatchObject([{ correlationid: correlationId }]);
        expect(await use(randomUUID(), { proof })).toEqual({ outcome: 'accepted' });
        await under.pass(70);
        expect(await use(correlationId, { proof })).toEqual({ outcome: 'accepted' });
      });

      it('is limited in a window that starts with the first use, and a limited use stores nothing', async () => {
        const [correlationId, proof] = [randomUUID(), aProof(600)];
        const limit = { uses: 2, seconds: 60 };
        const sent = [anEvent(), anEvent(), anEvent()];
        const limited = { outcome: 'limited', waitSeconds: expect.any(Number) };
        expect(await use(correlationId, { limit, events: sent.slice(0, 1) })).toEqual({
          outcome: 'accepted',
        });
        await under.pass(40);
        expect(await use(correlationId, { limit, events: sent.slice(1, 2) })).toEqual({
          outcome: 'accepted',
        });
        expect(await use(correlationId, { limit, proof, events: sent.slice(2) })).toEqual(limited);
        expect(await use(randomUUID(), { limit })).toEqual({ outcome: 'accepted' });
        await under.pass(40);
        expect(await use(correlationId, { limit, proof })).toEqual({ outcome: 'accepted' });
        expect(await sentOf(...sent)).toHaveLength(2);
      });
    });
  });
}
