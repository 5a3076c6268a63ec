import { describe, expect, it } from '@jest/globals';
import { markdownOf } from '../../docs/markdown.ts';
import { pageOf } from '../../docs/page.ts';
import type { ConformanceRow, DecisionRow, Outline } from '../../docs/rows.ts';
import { conformanceTable, decisionTable } from '../../docs/tables.ts';

const outline: Outline = {
  topics: ['Launching'],
  specifications: [
    { name: 'OLTR', title: 'OLTR launch', sections: [{ heading: 'Limits', rows: ['ten seconds', 'once'] }] },
  ],
};
const tests = [{ file: 'libs/tickets/test/limits.test.ts', titles: ['holds'] }];
const decision: DecisionRow = {
  topic: 'Launching',
  question: 'a replay of `GET`',
  decision: '410, as [errors](/docs/errors.md) says; a <b> & `c | d`',
  record: 'docs/decisions/410-and-401.md',
  tests,
  package: 'libs/tickets',
};
const row = (name: string): ConformanceRow => ({
  spec: `OLTR / Limits / ${name}`,
  does: 'holds',
  implementedIn: ['libs/tickets/src/tickets.ts', 'services/ordering/src/domain/tickets.ts'],
  tests,
  package: 'libs/tickets',
});
const rows = [row('once'), row('ten seconds')];

describe('the rows of the documentation', () => {
  it('are in the order of the outline', () => {
    const [, limits] = conformanceTable(outline, rows).sections;
    expect(limits?.rows.map(({ name }) => name)).toEqual(['ten seconds', 'once']);
  });

  it.each([
    ['a row of a specification without an entry', [row('once')], 'OLTR / Limits / ten seconds: in no'],
    ['an entry without a place', [...rows, row('twice')], 'OLTR / Limits / twice: not in the outline'],
    ['an entry that is there twice', [...rows, row('once')], 'OLTR / Limits / once: is there twice'],
    ['an entry without evidence', [row('once'), { ...row('ten seconds'), tests: [] }], 'needs tests'],
    ['one with tests and none', [row('once'), { ...row('ten seconds'), noTest: 'x' }], 'needs tests'],
  ])('are refused for %s', (_case, entries, message) => {
    expect(() => conformanceTable(outline, entries)).toThrow(message);
  });

  it.each([
    ['an unknown topic', [{ ...decision, topic: 'Landing' }], 'Landing / a replay of `GET`: unknown topic'],
    ['a question that is there twice', [decision, decision], 'is there twice'],
    ['a decision without evidence', [{ ...decision, tests: [] }], 'needs tests'],
  ])('are refused for %s', (_case, decisions, message) => {
    expect(() => decisionTable(outline, decisions)).toThrow(message);
  });
});

describe('a row', () => {
  it('is a line of a Markdown table, with links from docs/', () => {
    expect(markdownOf(decisionTable(outline, [decision]))).toContain(
      '\n| a replay of `GET` | 410, as [errors](errors.md) says; a <b> & `c \\| d` ([why](decisions/410-and-401.md)) | [limits.test] “holds” |\n\n[limits.test]: ../libs/tickets/test/limits.test.ts\n',
    );
  });

  it('is a row of the page, escaped, with links from docs/', () => {
    const page = pageOf(decisionTable(outline, [decision]));
    expect(page).toContain(
      '410, as <a href="errors.md">errors</a> says; a &#60;b&#62; &#38; <code>c | d</code> (<a href="decisions/410-and-401.md">why</a>)',
    );
    expect(page).toContain('<a href="../libs/tickets/test/limits.test.ts">limits.test.ts</a>');
  });

  it('names files of one name by their folders', () => {
    expect(markdownOf(conformanceTable(outline, rows))).toContain('[tickets-tickets], [domain-tickets]');
  });
});
