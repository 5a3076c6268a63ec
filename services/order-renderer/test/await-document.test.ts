import { describe, expect, it } from '@jest/globals';
import { awaitDocument } from '../src/http/await-document.ts';

describe('waiting for a document', () => {
  it('looks again until the document is there', async () => {
    const { look, looks } = lookingAt([undefined, undefined, 'found']);
    expect(await awaitDocument(look, new AbortController().signal)).toBe('found');
    expect(looks()).toBe(3);
  });

  it('ends when it is told to, after one last look', async () => {
    const controller = new AbortController();
    const { look, looks } = lookingAt([undefined], (count) => {
      if (count === 3) controller.abort();
    });
    expect(await awaitDocument(look, controller.signal)).toBeUndefined();
    expect(looks()).toBe(4);
  });
});

/** Answers one lookup after the other, and repeats the last one. */
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
