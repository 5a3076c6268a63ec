import { globSync, readFileSync } from 'node:fs';
import { faultCodes } from '@clinical-launch/contracts';
import { describe, expect, it } from '@jest/globals';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The sources of all code that answers requests, by file. */
const sources = globSync(['libs/{contracts,service}/src/**/*.ts', 'services/*/src/**/*.ts'], {
  cwd: root.pathname,
}).map((path) => ({ path, source: read(path) }));

/** Returns the first cells of the table below a heading of the document, without backquotes. */
function documentedBelow(heading: string): string[] {
  const [, section = ''] = read('docs/errors.md').split(`\n## ${heading}\n`);
  const table = section.split('\n## ')[0]?.match(/^\|.*$/gm) ?? [];
  return table.slice(2).map((row) => (row.split(' | ')[0] ?? '').replace(/^\| /, '').replaceAll('`', ''));
}

const sorted = (words: string[]) => [...new Set(words)].toSorted();

/** Returns the first group of each match of a pattern in the sources whose path the filter accepts. */
const foundIn = (pattern: RegExp, isSearched: (path: string) => boolean = () => true) =>
  sources
    .filter(({ path }) => isSearched(path))
    .flatMap(({ source }) => [...source.matchAll(pattern)].map(([, found = '']) => found));

describe('docs/errors.md', () => {
  it('has every code of a fault, and no other', () => {
    expect(documentedBelow('Codes of faults').toSorted()).toEqual(faultCodes.toSorted());
  });

  it('has only codes of faults that some check reports', () => {
    const reported = foundIn(/(?:code|\w+): '([a-z]+(?:-[a-z]+)*)'/g, (path) => !path.endsWith('/fault.ts'));
    expect(faultCodes.filter((code) => !reported.includes(code))).toEqual([]);
  });

  it('has every description of a refused access token, and no other', () => {
    const thrown = foundIn(/\binvalid(?:Token|Dpop)\(\s*'([^']+)'/g);
    const read = foundIn(/(?:return '|\?\? '|', ')((?:the|a) [^']+)'/g, (path) =>
      path.endsWith('/invalid-token.ts'),
    );
    expect(read.length).toBeGreaterThan(5);
    expect(documentedBelow('Why an access token is refused').toSorted()).toEqual(
      sorted([...thrown, ...read]),
    );
  });

  it('has every code of a refusal, and no other', () => {
    const named = foundIn(/\b(?:code|invalid)(?::| =) '([a-z]+(?:_[a-z]+)+)'/g);
    const refused = foundIn(/\brefused\(\s*'([a-z]+(?:_[a-z]+)+)'/g);
    expect(documentedBelow('Codes of refusals').toSorted()).toEqual(sorted([...named, ...refused]));
  });

  it('describes a refused token in characters that a challenge can carry (RFC 6750 section 3)', () => {
    const descriptions = documentedBelow('Why an access token is refused');
    expect(descriptions.filter((text) => !/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(text))).toEqual([]);
  });
});
