import { expect, it } from '@jest/globals';
import { differencesOf, junitOf } from '../src/results.ts';
import type { RunReport } from '../src/run.ts';

const report: RunReport = {
  run: crypto.randomUUID(),
  client: 'pms',
  protocol: 'pms',
  isSigned: false,
  startedAt: '2026-11-26T09:00:00.000Z',
  state: 'finished',
  launches: [],
  requirements: [
    { id: 'one', title: 'One', guide: 'pms.md', result: 'passed' },
    { id: 'two', title: 'Two', guide: 'pms.md', result: 'failed', finding: '<Wrong>' },
    { id: 'three', title: 'Three', guide: 'pms.md', result: 'unattested' },
  ],
  notJudged: [],
};

it.each([
  ['without expected results', undefined, ['two', 'three'], []],
  ['as expected', { one: 'passed', two: 'failed', three: 'unattested' }, [], ['two', 'three']],
  ['better than expected', { one: 'failed', two: 'failed', three: 'unattested' }, ['one'], ['two', 'three']],
  [
    'with an expected requirement that does not exist',
    { one: 'passed', two: 'failed', three: 'unattested', four: 'passed' },
    ['four'],
    ['two', 'three'],
  ],
] as const)(
  'the JUnit report of a run %s has a failure for each difference',
  (_what, expected, failed, skipped) => {
    const xml = junitOf(report, expected);
    const idsOf = (element: string) =>
      [...xml.matchAll(new RegExp(`classname="(\\w+)" name="\\w+"><${element} `, 'g'))].map(([, id]) => id);
    expect([idsOf('failure'), idsOf('skipped')]).toEqual([failed, skipped]);
    expect([...differencesOf(report, expected).keys()]).toEqual(failed);
    expect(xml).toContain(`failures="${failed.length}" skipped="${skipped.length}"`);
  },
);
