import { describe, expect, it } from '@jest/globals';
import { awaitDocument } from '../src/http/get-order-document.ts';

describe('awaitDocument', () => {
  it('queries again until the document exists', async () => {
    const { look, looks } = lookingAt([undefined, undefined, 'found']);
    expect(await awaitDocument(look, new AbortController().signal)).toBe('found');
    expect(looks()).toBe(3);
  });

  it('stops when the signal aborts, after one last query', async () => {
    const controller = new AbortController();
    const { look, looks } = lookingAt([undefined], (count) => {
      if (count === 3) controller.abort();
    });
    expect(await awaitDocument(look, controller.signal)).toBeUndefined();
    expect(looks()).toBe(4);
  });
});

/** Creates a query that returns the given results in order, and then repeats the last result. */
function lookingAt(lookups: readonly (string | undefined)[], onLook: (count: number) => void = () => {}) {
  let count = 0;
  return {
    look: async () => {
      count += 1;
      onLook(count);
      return lookups[Math.min(count, lookups.length) - 1];
    },
    looks: () => count,
  };
}
