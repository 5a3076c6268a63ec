import { randomUUID } from 'node:crypto';
import { anEvent } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWaitingTests } from '../../testing/test/waiting-tests.ts';
import type { Limits } from '../src/limits.ts';

/** The implementation under test. It stores at most 32 refusal events. */
export type LimitsUnderTest = {
  readonly limits: Limits;
  /** Returns the number of refusal events that are stored and not yet published. */
  waiting(): Promise<number>;
  /** Advances the clock of the implementation. */
  pass(ms: number): Promise<void>;
  /** True if the implementation uses real time, so that `pass` must wait. */
  readonly isTimeReal: boolean;
  stop(): Promise<void>;
};

export const mostEvents = 32;

/** Describes the behaviour of every implementation of `Limits`. */
export function describeLimits(name: string, create: () => Promise<LimitsUnderTest>): void {
  describe(`limits (${name})`, () => {
    let under: LimitsUnderTest;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(() => under.stop());
    const waiting = createWaitingTests(() => under.isTimeReal);

    const limit = { refusals: 3, windowSeconds: 3 };
    const anAddress = () => `address ${randomUUID()}`;
    const refuse = (from: string, events = 0) =>
      under.limits.refuse({ from, limit, events: Array.from({ length: events }, () => anEvent()) });

    waiting.it('report that an address is over its limit of refusals, until the window ends', async () => {
      const [address, other] = [anAddress(), anAddress()];
      for (let refusal = 0; refusal < 3; refusal += 1)
        expect(await refuse(address)).toEqual({ overForMs: 0, dropped: 0 });
      const { overForMs } = await refuse(address);
      expect(overForMs).toBeGreaterThan(0);
      expect(overForMs).toBeLessThanOrEqual(3000);
      expect((await refuse(other)).overForMs).toBe(0);
      await under.pass(overForMs + 20);
      expect((await refuse(address)).overForMs).toBe(0);
    });

    it('store events only for refusals within the limit of the address', async () => {
      const address = anAddress();
      const before = await under.waiting();
      for (let refusal = 0; refusal < 5; refusal += 1) await refuse(address, 1);
      expect((await under.waiting()) - before).toBe(3);
    });

    it('drop events when the outbox is full, and report the number of dropped events', async () => {
      const from = 'client that is verified';
      let dropped = 0;
      const before = await under.waiting();
      for (let refusal = 0; refusal < 2 * mostEvents; refusal += 1) {
        const recorded = await under.limits.refuse({ from, events: [anEvent()] });
        expect(recorded.overForMs).toBe(0);
        dropped += recorded.dropped;
      }
      expect(dropped).toBeGreaterThanOrEqual(mostEvents);
      expect((await under.waiting()) - before).toBeLessThanOrEqual(mostEvents);
    });

    waiting.it('delay a client from its fifth failed attempt, doubling the delay each time', async () => {
      const key = randomUUID();
      for (let attempt = 1; attempt <= 4; attempt += 1)
        expect(await under.limits.failAttempt(key)).toEqual({ isCounted: true, waitMs: 0 });
      expect(await under.limits.failAttempt(key)).toEqual({ isCounted: true, waitMs: 1000 });
      const within = await under.limits.failAttempt(key);
      expect(within.isCounted).toBe(false);
      expect(within.waitMs).toBeLessThanOrEqual(1000);
      expect(await under.limits.failAttempt(randomUUID())).toEqual({ isCounted: true, waitMs: 0 });
      await under.pass(1020);
      expect(await under.limits.failAttempt(key)).toEqual({ isCounted: true, waitMs: 2000 });
    });
  });
}
