import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const src = new URL('../src/', import.meta.url).pathname;
const sources = globSync('**/*.ts', { cwd: src })
  .toSorted()
  .map((path) => ({ path, text: readFileSync(`${src}${path}`, 'utf8') }));

describe('the source files of the service', () => {
  it('start a transaction only in a use case, and only once in each file', () => {
    const transactions = sources
      .map(({ path, text }) => ({ path, count: text.split('.transaction()').length - 1 }))
      .filter(({ count }) => count > 0);
    expect(transactions.filter(({ path, count }) => !path.startsWith('work/') || count !== 1)).toEqual([]);
    expect(transactions).not.toEqual([]);
  });
});
