import { describe, expect, it } from '@jest/globals';
import { awaitDocument } from '../src/http/await-document.ts';
import type { Lookup } from '../src/store/documents.ts';

const found: Lookup = {
  outcome: 'found',
  document: { orderGuid: 'o', messageId: 'm', xml: '<onlineOrder/>' },
};

describe('waiting for a document', () => {
  it('looks again until the document is there', async () => {
    const { look, looks } = lookingAt([{ outcome: 'absent' }, { outcome: 'absent' }, found]);
    const signal = new AbortController().signal;
    expect(await awaitDocument(look, { signal, mayFollowOthers: false })).toEqual(found);
    expect(looks()).toBe(3);
  });

  it('ends at once when the order is of another launch', async () => {
    const { look, looks } = lookingAt([{ outcome: 'foreign' }, found]);
    const signal = new AbortController().signal;
    expect(await awaitDocument(look, { signal, mayFollowOthers: false })).toEqual({ outcome: 'foreign' });
    expect(looks()).toBe(1);
  });

  it('goes on for a launch that may amend an order of another launch', async () => {
    const { look } = lookingAt([{ outcome: 'foreign' }, found]);
    const signal = new AbortController().signal;
    expect(await awaitDocument(look, { signal, mayFollowOthers: true })).toEqual(found);
  });

  it('ends when it is told to, after one last look', async () => {
    const controller = new AbortController();
    const { look, looks } = lookingAt([{ outcome: 'absent' }], (count) => {
      if (count === 3) controller.abort();
    });
    const lookup = await awaitDocument(look, { signal: controller.signal, mayFollowOthers: false });
    expect(lookup).toEqual({ outcome: 'absent' });
    expect(looks()).toBe(4);
  });
});

/** Answers one lookup after the other, the last one for ever. */
function lookingAt(lookups: readonly Lookup[], onLook: (count: number) => void = () => {}) {
  let count = 0;
  return {
    look: async (): Promise<Lookup> => {
      count += 1;
      onLook(count);
      return lookups[count - 1] ?? lookups.at(-1) ?? { outcome: 'absent' };
    },
    looks: () => count,
  };
}
