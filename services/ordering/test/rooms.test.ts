import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const src = new URL('../src/', import.meta.url).pathname;
const sources = globSync('**/*.ts', { cwd: src })
  .toSorted()
  .map((path) => ({ path, text: readFileSync(`${src}${path}`, 'utf8') }));

const withoutTypes = (text: string) => text.replaceAll(/^import type .*$/gm, '');

describe('the rooms of the service', () => {
  it('begin transactions in the use cases alone, one each', () => {
    const transactions = sources
      .map(({ path, text }) => ({ path, count: text.split('.transaction()').length - 1 }))
      .filter(({ count }) => count > 0);
    expect(transactions.filter(({ path, count }) => !path.startsWith('work/') || count !== 1)).toEqual([]);
    expect(transactions).not.toEqual([]);
  });

  it('have migrations that are SQL alone', () => {
    const imported = sources
      .filter(({ path }) => path.startsWith('store/migrations/'))
      .flatMap(({ text }) =>
        [...withoutTypes(text).matchAll(/\b(?:from|import) ?\(?'([^']+)'/g)].map(([, from]) => from),
      );
    const ofOthers = imported.filter((from) => from?.startsWith('./') !== true);
    expect(new Set(ofOthers)).toEqual(new Set(['kysely']));
  });
});
