import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { anEvent } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWaitingTests } from '../../testing/test/waiting-tests.ts';
import type { RevokedTokens, TokenRevocation } from '../src/revoked-tokens.ts';

/** An implementation of `RevokedTokens` for the suite. An owner may have four unexpired entries. */
export type RevokedTokensUnderTest = {
  readonly revokedTokens: RevokedTokens;
  outbox(): Promise<readonly CloudEvent[]>;
  /** Advances the time of this implementation. */
  pass(seconds: number): Promise<void>;
  /** Whether the implementation uses real time, so that `pass` must wait. */
  readonly isTimeReal: boolean;
  stop(): Promise<void>;
};

export const maxTokens = 4;

/** Describes the behaviour of every implementation of `RevokedTokens`. */
export function describeRevokedTokens(name: string, create: () => Promise<RevokedTokensUnderTest>): void {
  describe(`a list of revoked tokens (${name})`, () => {
    let under: RevokedTokensUnderTest;
    beforeAll(async () => {
      under = await create();
    });
    afterAll(() => under.stop());
    const waiting = createWaitingTests(() => under.isTimeReal);

    const revoke = (tokenId: string, changes: Partial<TokenRevocation> = {}) =>
      under.revokedTokens.revoke(tokenId, { owner: randomUUID(), forSeconds: 60, events: [], ...changes });

    /** Returns the ids of all pages after a position, and the position to continue from. */
    async function readAll(from?: string) {
      const tokenIds: string[] = [];
      for (let position = from; ; ) {
        const page = await under.revokedTokens.readAfter(position);
        tokenIds.push(...page.tokens.map(({ tokenId }) => tokenId));
        position = page.position;
        if (!page.hasMore) return { tokenIds, position };
      }
    }

    waiting.it('contains a token from its revocation until its expiry', async () => {
      const tokenId = randomUUID();
      expect(await under.revokedTokens.has(tokenId)).toBe(false);
      expect(await revoke(tokenId, { forSeconds: 3 })).toEqual({ outcome: 'revoked' });
      expect(await under.revokedTokens.has(tokenId)).toBe(true);
      expect(await under.revokedTokens.has(randomUUID())).toBe(false);
      await under.pass(3.1);
      expect(await under.revokedTokens.has(tokenId)).toBe(false);
      expect((await readAll()).tokenIds).not.toContain(tokenId);
    });

    it('returns the revocations since the last read, with their remaining time', async () => {
      const [early, late] = [randomUUID(), randomUUID()];
      await revoke(early);
      const { tokenIds, position } = await readAll();
      expect(tokenIds).toContain(early);
      expect((await under.revokedTokens.readAfter(position)).tokens).toEqual([]);
      await revoke(late);
      const { tokens } = await under.revokedTokens.readAfter(position);
      expect(tokens).toEqual([{ tokenId: late, forMs: expect.any(Number) }]);
      expect(tokens[0]?.forMs).toBeGreaterThan(50_000);
      expect(tokens[0]?.forMs).toBeLessThanOrEqual(60_000);
    });

    it('returns all pages to a reader without a position', async () => {
      const ids = Array.from({ length: 2100 }, () => randomUUID());
      await Promise.all(ids.map((id) => revoke(id)));
      const { tokenIds, position } = await readAll();
      const known = new Set(tokenIds);
      expect(ids.filter((id) => !known.has(id))).toEqual([]);
      expect((await readAll(position)).tokenIds).toEqual([]);
    });

    it('sends events only for the first revocation of a token', async () => {
      const tokenId = randomUUID();
      const [first, second] = [anEvent(), anEvent()];
      await revoke(tokenId, { events: [first] });
      expect(await revoke(tokenId, { events: [second] })).toEqual({ outcome: 'revoked' });
      const sent = (await under.outbox()).filter(({ id }) => id === first.id || id === second.id);
      expect(sent).toEqual([first]);
    });

    it('contains a token once after simultaneous revocations', async () => {
      const tokenId = randomUUID();
      const { position } = await readAll();
      await Promise.all(Array.from({ length: 20 }, () => revoke(tokenId)));
      expect((await readAll(position)).tokenIds).toEqual([tokenId]);
    });

    waiting.it(
      'refuses revocations beyond the limit of an owner until an entry of that owner expires',
      async () => {
        const owner = randomUUID();
        const event = anEvent();
        await revoke(randomUUID(), { owner, forSeconds: 3 });
        for (let tokens = 1; tokens < maxTokens; tokens += 1) await revoke(randomUUID(), { owner });
        const tokenId = randomUUID();
        const refused = await revoke(tokenId, { owner, events: [event] });
        expect(refused).toEqual({ outcome: 'full', retryAfterSeconds: expect.any(Number) });
        const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
        expect(retryAfterSeconds).toBeGreaterThan(0);
        expect(retryAfterSeconds).toBeLessThanOrEqual(3);
        expect(await under.revokedTokens.has(tokenId)).toBe(false);
        expect((await under.outbox()).map(({ id }) => id)).not.toContain(event.id);
        expect(await revoke(randomUUID())).toEqual({ outcome: 'revoked' });
        await under.pass(retryAfterSeconds + 0.1);
        expect(await revoke(tokenId, { owner })).toEqual({ outcome: 'revoked' });
      },
    );

    it('answers `revoked` for an already revoked token even if its owner reached the limit', async () => {
      const owner = randomUUID();
      const ids = Array.from({ length: maxTokens }, () => randomUUID());
      for (const id of ids) await revoke(id, { owner });
      expect(await revoke(ids[0] ?? '', { owner })).toEqual({ outcome: 'revoked' });
    });
  });
}
