import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWaitingTests } from '../../testing/test/waiting-tests.ts';
import type { Chains, Once } from '../src/chains.ts';
import type { IssueRequest, Tickets } from '../src/tickets.ts';
import { describeAdditionalTickets } from './additional-contract.ts';
import { describeChains } from './chains-contract.ts';
import { describeProofs } from './proofs-contract.ts';

/** An implementation of `Tickets`, as the suite uses it. */
export type TicketsUnderTest = {
  readonly tickets: Tickets;
  readonly chains: Chains;
  readonly once: Once;
  /** Returns all events of the outbox, in order. */
  outbox(): Promise<readonly CloudEvent[]>;
  /** Advances this implementation's clock. */
  pass(seconds: number): Promise<void>;
  /** Whether the implementation uses real time, so that `pass` must wait. */
  readonly isTimeReal: boolean;
  stop(): Promise<void>;
};

const guid = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;

const event = (correlationId: string): CloudEvent =>
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

const issueRequest = (changes: Partial<IssueRequest> = {}): IssueRequest => ({
  context: { patient: 'one' },
  ttlSeconds: 60,
  correlationId: guid(1),
  events: [],
  ...changes,
});

/** Describes the behaviour of every implementation of `Tickets`. */
export function describeTickets(name: string, create: () => Promise<TicketsUnderTest>): void {
  describe(`Tickets (${name})`, () => {
    let under: TicketsUnderTest;
    let claims = 0;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(() => under.stop());
    const waiting = createWaitingTests(() => under.isTimeReal);

    const issue = async (changes?: Partial<IssueRequest>) => {
      const issued = await under.tickets.issue('launch-token', issueRequest(changes));
      if (issued.outcome !== 'issued') throw new Error(issued.outcome);
      return issued.ticket;
    };
    const redeem = (ticket: string, proofs?: string[]) =>
      under.tickets.redeem('launch-token', ticket, {
        ...withoutUndefined({ proofs }),
        events: [],
      });
    const freshClaim = () => `claim ${(claims += 1)} of ${crypto.randomUUID()}`;

    it('issues unique tickets of at least 256 bits in the Base64URL alphabet', async () => {
      const tickets = await Promise.all(Array.from({ length: 100 }, () => issue()));
      expect(new Set(tickets).size).toBe(100);
      for (const ticket of tickets) expect(ticket).toMatch(/^[A-Za-z0-9_-]{89}$/);
    });

    it('returns context, detail and correlation id unchanged', async () => {
      const context = { text: 'Ó “Zoë” 𠮷 \u0000', list: [1, null, { deep: true }] };
      const ticket = await issue({ context, detail: { redirectUri: 'app://auth' }, correlationId: guid(2) });
      expect(await redeem(ticket)).toEqual({
        outcome: 'redeemed',
        context,
        detail: { redirectUri: 'app://auth' },
        correlationId: guid(2),
      });
    });

    it('redeems a ticket once, and then answers `used` to any proof', async () => {
      const ticket = await issue({ challenge: 'c' });
      expect(await redeem(ticket, ['c'])).toMatchObject({ outcome: 'redeemed' });
      expect(await redeem(ticket, ['c'])).toEqual({ outcome: 'used', correlationId: guid(1) });
      expect(await redeem(ticket, ['other'])).toEqual({ outcome: 'used', correlationId: guid(1) });
      expect(await redeem(ticket)).toEqual({ outcome: 'used', correlationId: guid(1) });
    });

    it('redeems a ticket for exactly one of 200 simultaneous requests', async () => {
      const ticket = await issue({ challenge: 'c' });
      const outcomes = await Promise.all(Array.from({ length: 200 }, () => redeem(ticket, ['c'])));
      expect(outcomes.filter(({ outcome }) => outcome === 'redeemed')).toHaveLength(1);
      expect(outcomes.filter(({ outcome }) => outcome === 'used')).toHaveLength(199);
    });

    it('keeps a ticket valid after a mismatch', async () => {
      const ticket = await issue({ challenge: 'c' });
      for (const proofs of [['d'], [], undefined, ['', 'C', 'cc']]) {
        expect(await redeem(ticket, proofs)).toEqual({ outcome: 'mismatch', correlationId: guid(1) });
      }
      expect(await redeem(ticket, ['d', 'c'])).toMatchObject({ outcome: 'redeemed' });
    });

    it('answers `unknown` for a ticket that was never issued, is of another kind or is malformed', async () => {
      const ticket = await issue();
      const { tickets } = under;
      for (const stranger of [
        'A'.repeat(43),
        '',
        'x',
        `${ticket}A`,
        '\u0000',
        'é'.repeat(43),
        'A'.repeat(10_000),
      ]) {
        expect(await redeem(stranger)).toEqual({ outcome: 'unknown' });
      }
      expect(await tickets.redeem('launch-session', ticket, { events: [] })).toEqual({ outcome: 'unknown' });
      expect(await redeem(ticket)).toMatchObject({ outcome: 'redeemed' });
    });

    waiting.it('answers `unknown` for an expired ticket, but `used` if it was used before', async () => {
      const [expired, used] = [await issue({ ttlSeconds: 3 }), await issue({ ttlSeconds: 3 })];
      await redeem(used);
      await under.pass(3.1);
      expect(await redeem(expired)).toEqual({ outcome: 'unknown' });
      expect(await redeem(used)).toMatchObject({ outcome: 'used' });
    });

    describe('the notice of a ticket', () => {
      const notice = { content: { page: 'https://pms.example/ó' }, ttlSeconds: 60 };
      const { content } = notice;

      waiting.it('is returned with each refusal: for a mismatch, a replay or an expired ticket', async () => {
        const [ticket, expired] = [
          await issue({ notice, challenge: 'c' }),
          await issue({ notice, ttlSeconds: 1 }),
        ];
        const correlationId = guid(1);
        expect(await redeem(ticket, ['d'])).toEqual({
          outcome: 'mismatch',
          correlationId,
          notice: content,
        });
        expect(await redeem(ticket, ['c'])).toEqual({
          outcome: 'redeemed',
          context: { patient: 'one' },
          correlationId,
        });
        expect(await redeem(ticket, ['c'])).toEqual({ outcome: 'used', correlationId, notice: content });
        await under.pass(1.1);
        expect(await redeem(expired)).toEqual({ outcome: 'unknown', notice: content });
      });

      it('is returned to each request that loses a race for the ticket', async () => {
        const ticket = await issue({ notice });
        const redemptions = await Promise.all(Array.from({ length: 20 }, () => redeem(ticket)));
        expect(redemptions.filter((redemption) => 'notice' in redemption)).toHaveLength(19);
      });

      it('is returned only for its own ticket, not for a successor or a guessed ticket', async () => {
        const ticket = await issue({ notice });
        const guessed = `${ticket.slice(0, -1)}${ticket.endsWith('A') ? 'B' : 'A'}`;
        expect(await redeem(guessed)).toEqual({ outcome: 'unknown' });
        const asSession = await under.tickets.redeem('launch-session', ticket, { events: [] });
        expect(asSession).toEqual({ outcome: 'unknown' });
        const redemption = await under.tickets.redeem('launch-token', ticket, {
          successor: { kind: 'launch-session', ttlSeconds: 60 },
          events: [],
        });
        if (redemption.outcome !== 'redeemed' || redemption.successor === undefined)
          throw new Error('no successor');
        const end = () => under.tickets.redeem('launch-session', redemption.successor ?? '', { events: [] });
        expect(await end()).toMatchObject({ outcome: 'redeemed' });
        expect(await end()).toEqual({ outcome: 'used', correlationId: guid(1) });
      });

      waiting.it('expires after its own lifetime, not after the lifetime of the ticket', async () => {
        const ticket = await issue({ notice: { ...notice, ttlSeconds: 3 } });
        await redeem(ticket);
        expect(await redeem(ticket)).toMatchObject({ notice: content });
        await under.pass(3.1);
        expect(await redeem(ticket)).toEqual({ outcome: 'used', correlationId: guid(1) });
      });
    });

    it('issues the successor in the same step as the redemption, with the same context and correlation id', async () => {
      const ticket = await issue({ context: { launch: 1 }, correlationId: guid(3) });
      const redemption = await under.tickets.redeem('launch-token', ticket, {
        successor: { kind: 'launch-session', ttlSeconds: 60, detail: { step: 2 } },
        events: [],
      });
      if (redemption.outcome !== 'redeemed' || redemption.successor === undefined)
        throw new Error('no successor');
      const expected = { context: { launch: 1 }, detail: { step: 2 }, correlationId: guid(3) };
      expect(await under.tickets.find('launch-session', redemption.successor)).toEqual(expected);
      expect(await under.tickets.find('launch-token', redemption.successor)).toBeUndefined();
    });

    waiting.it('finds a live ticket without using it, but finds no used or expired ticket', async () => {
      const [live, used, expired] = [await issue(), await issue(), await issue({ ttlSeconds: 1 })];
      await redeem(used);
      await under.pass(1.1);
      const { tickets } = under;
      expect(await tickets.find('launch-token', live)).toMatchObject({ context: { patient: 'one' } });
      expect(await tickets.find('launch-token', used)).toBeUndefined();
      expect(await tickets.find('launch-token', expired)).toBeUndefined();
      expect(await redeem(live)).toMatchObject({ outcome: 'redeemed' });
    });

    waiting.it('extends a session each time it is found, and ends it when idle', async () => {
      const session = await issue({ ttlSeconds: 3 });
      for (let look = 0; look < 3; look += 1) {
        await under.pass(1.2);
        expect(await under.tickets.find('launch-token', session, { extendSeconds: 3 })).toBeDefined();
      }
      await under.pass(3.1);
      expect(await under.tickets.find('launch-token', session, { extendSeconds: 3 })).toBeUndefined();
    });

    it('accepts a claim once, even among simultaneous issues', async () => {
      const claim = { name: freshClaim(), holder: 'OrderTest', ttlSeconds: 60 };
      const issues = await Promise.all(
        Array.from({ length: 50 }, () => under.tickets.issue('launch-token', issueRequest({ claim }))),
      );
      expect(issues.filter(({ outcome }) => outcome === 'issued')).toHaveLength(1);
      expect(issues.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(49);
    });

    it('lets a launch share a claim if the launch lists the holder in `joins`, and leaves the shared claim unchanged', async () => {
      const name = freshClaim();
      const outcome = async (holder: string, joins?: string[]) => {
        const claim = { name, holder, ttlSeconds: 60, ...withoutUndefined({ joins }) };
        return (await under.tickets.issue('launch-token', issueRequest({ claim }))).outcome;
      };
      expect(await outcome('UpdateTest', ['OrderTest'])).toBe('issued');
      expect(await outcome('UpdateTest', ['OrderTest'])).toBe('claimed');
      expect(await outcome('PatientReport', ['UpdateTest'])).toBe('issued');
      expect(await outcome('UpdateTest', ['UpdateTest'])).toBe('issued');
      expect(await outcome('OrderTest')).toBe('claimed');
    });

    waiting.it('releases a claim after its lifetime', async () => {
      const claim = { name: freshClaim(), holder: 'OrderTest', ttlSeconds: 1 };
      await issue({ claim });
      await under.pass(1.1);
      expect((await under.tickets.issue('launch-token', issueRequest({ claim }))).outcome).toBe('issued');
    });

    waiting.it(
      'accepts one claim of a name until its lifetime ends, and sends only the events of that claim',
      async () => {
        const name = freshClaim();
        const events = Array.from({ length: 20 }, () => event(guid(6)));
        const claims = await Promise.all(
          events.map((each) => under.once.use(name, { forSeconds: 3, events: [each] })),
        );
        expect(claims.filter(Boolean)).toHaveLength(1);
        const mine = new Set(events.map(({ id }) => id));
        const sent = (await under.outbox()).filter(({ id }) => mine.has(id));
        expect(sent).toEqual([events[claims.indexOf(true)]]);
        await under.pass(3.1);
        expect(await under.once.use(name, { forSeconds: 1, events: [] })).toBe(true);
        expect(await under.once.use(freshClaim(), { forSeconds: 1, events: [] })).toBe(true);
      },
    );

    it('sends the events of successful issues and redemptions, but not of refusals', async () => {
      const [issued, claimed, redeemed, refused] = [
        event(guid(4)),
        event(guid(4)),
        event(guid(5)),
        event(guid(5)),
      ];
      const claim = { name: freshClaim(), holder: 'OrderTest', ttlSeconds: 60 };
      const ticket = await issue({ claim, correlationId: guid(4), challenge: 'c', events: [issued] });
      await under.tickets.issue('launch-token', issueRequest({ claim, events: [claimed] }));
      const redeemWith = (proof: string, events: CloudEvent[]) =>
        under.tickets.redeem('launch-token', ticket, { proofs: [proof], events });
      await redeemWith('d', [refused]);
      await redeemWith('c', [redeemed]);
      await redeemWith('c', [refused]);

      const mine = new Set([issued.id, claimed.id, redeemed.id, refused.id]);
      const sent = (await under.outbox()).filter(({ id }) => mine.has(id));
      // The event of the redemption has the correlation id of the launch, which the ticket contains.
      expect(sent).toEqual([issued, { ...redeemed, correlationid: guid(4) }]);
    });

    describeChains({ under: () => under, event, waiting });
    describeAdditionalTickets(() => under, waiting);
    describeProofs({ under: () => under, event, waiting });
  });
}
