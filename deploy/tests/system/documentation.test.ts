import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { generatedDocuments } from '../../docs.ts';

const root = new URL('../../../', import.meta.url);
const find = (...patterns: string[]) => globSync(patterns, { cwd: root.pathname }).toSorted();
const read = (path: string | URL) => readFileSync(new URL(path, root), 'utf8');

/** The documents whose tables name a test in every row. */
const citing = ['docs/conformance.md', 'docs/decisions.md'];
const records = find('docs/decisions/*.md').filter((path) => !path.endsWith('/README.md'));
const documents = find('*.md', 'docs/**/*.md', '{libs,services,deploy}/*/README.md');

/** Returns the targets that a document names by `[name]: target`. */
function definitionsIn(markdown: string): Map<string, string> {
  const lines = markdown.matchAll(/^\[([^\]]+)\]: (\S+)$/gm);
  return new Map([...lines].map(([, name = '', target = '']) => [name, target]));
}

/** Returns the files that a document links to. */
function filesLinkedIn(markdown: string): string[] {
  const inline = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return [...inline, ...definitionsIn(markdown).values()]
    .filter((target) => !/^([a-z]+:|#)/.test(target))
    .map((target) => target.replace(/#.*/, ''));
}

/**
 * Returns the titles of a test file, each after those of its groups: `describe › it`. The formatter keeps
 * indentation and nesting consistent, so no parser is needed.
 */
function titlesIn(source: string): string[] {
  const calls =
    /(?:\b(?:it|describe)(?:\.concurrent)?|\))\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)\s*,/g;
  const around: { indent: number; title: string }[] = [];
  return [...source.matchAll(calls)].map(({ index, 1: literal = '' }) => {
    const line = source.slice(source.lastIndexOf('\n', index) + 1);
    const indent = line.length - line.trimStart().length;
    while ((around.at(-1)?.indent ?? -1) >= indent) around.pop();
    around.push({ indent, title: literal.slice(1, -1).replace(/\\(.)/g, '$1') });
    return around.map(({ title }) => title).join(' › ');
  });
}

const hasTitle = (source: string, title: string) =>
  titlesIn(source).some((known) => ` › ${known}`.endsWith(` › ${title}`));

/** Returns whether a table of tests has the row: a text of exactly these characters. */
const hasRow = (source: string, row: string) =>
  ["'", '"', '`'].some((quote) => source.includes(quote + row + quote));

/** Returns the rows of a document's tables, without heads and rules. */
function rowsIn(markdown: string): string[] {
  const lines = markdown.split('\n');
  return lines.filter((line, at) => /^\|(?!-)/.test(line) && !lines[at + 1]?.startsWith('|-'));
}

/** Returns the “titles” and ‘rows’ that a row quotes but the named test file does not contain. */
function unfoundIn(row: string, sourceOf: (name: string) => string | undefined): string[] {
  let named = 'no file';
  return [...row.matchAll(/\[([^\]]+\.test)\]|“([^”]*)”|‘([^’]*)’/g)].flatMap(
    ([quoted, name, title, entry]) => {
      if (name !== undefined) named = name;
      const source = sourceOf(named) ?? '';
      const isFound =
        title === undefined ? entry === undefined || hasRow(source, entry) : hasTitle(source, title);
      return isFound ? [] : [`${named}: ${quoted}`];
    },
  );
}

/** The titles in quotation marks below the heading of a record, of a line that names their file. */
const quotedIn = (line: string) => [...line.matchAll(/“([^”]*)”/g)].map(([, title = '']) => title);

describe('the documentation', () => {
  it.each(documents)('%s: every link to a file leads to one', (path) => {
    const lost = filesLinkedIn(read(path)).filter(
      (target) => !existsSync(new URL(target, new URL(path, root))),
    );
    expect(lost).toEqual([]);
  });

  it.each(citing)('%s: every name in brackets is a link, and every link is used', (path) => {
    const markdown = read(path);
    const used = [...markdown.matchAll(/(?<!\w)\[([a-z][\w.-]*)\](?![(:[])/g)].map(([, name = '']) => name);
    expect([...definitionsIn(markdown).keys()].toSorted()).toEqual([...new Set(used)].toSorted());
  });

  it.each(citing)('%s: every test that it quotes exists in the file that it names', (path) => {
    const markdown = read(path);
    const files = definitionsIn(markdown);
    const sourceOf = (name: string) => {
      const target = files.get(name);
      return target === undefined ? undefined : read(new URL(target, new URL(path, root)));
    };
    expect(rowsIn(markdown).flatMap((row) => unfoundIn(row, sourceOf))).toEqual([]);
  });

  it.each(citing)('%s: every row names its test, or says that there is none', (path) => {
    const rows = rowsIn(read(path));
    expect(rows).not.toEqual([]);
    expect(rows.filter((row) => !/\[[^\]]+\.test\] “[^”]+”|\| none: .+ \|$/.test(row))).toEqual([]);
  });

  it.each(records)('%s: every test that it quotes exists in the file that it links to', (path) => {
    const quoting = read(path)
      .split('\n')
      .filter((line) => line.includes('“'));
    const unfound = quoting.flatMap((line) => {
      const [target] = filesLinkedIn(line);
      const source = target === undefined ? '' : read(new URL(target, new URL(path, root)));
      return quotedIn(line).filter((title) => !hasTitle(source, title));
    });
    expect(quoting).not.toEqual([]);
    expect(unfound).toEqual([]);
  });

  it.each(citing)('%s: every record that it links to is one', (path) => {
    const linked = filesLinkedIn(read(path)).filter((target) => target.startsWith('decisions/'));
    const known = [...records, 'docs/decisions/README.md'].map((record) => record.replace('docs/', ''));
    expect(linked.filter((target) => !known.includes(target))).toEqual([]);
  });

  it.each(Object.entries(generatedDocuments()))('%s is as its rows make it (npm run docs)', (path, text) => {
    expect(read(path)).toBe(text);
  });

  it.each(documents)('%s: every npm command is a script', (path) => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const commands = [...read(path).matchAll(/npm (?:run (?:--silent )?([a-z:-]+)|(start|test))\b/g)];
    expect(commands.map(([, script, word]) => script ?? word ?? '').filter((name) => !scripts[name])).toEqual(
      [],
    );
  });
});

describe('a quotation', () => {
  const source = read('deploy/tests/system/documentation.test.ts');
  const unfound = (row: string) => unfoundIn(row, (name) => (name === 'this.test' ? source : undefined));

  it('is found by its title, alone or behind that of its group, and by the name of a row', () => {
    expect(
      unfound('| [this.test] “a quotation”, “%s: every npm command is a script” ‘docs/**/*.md’ |'),
    ).toEqual([]);
    expect(unfound('| [this.test] “the documentation › %s: every npm command is a script” |')).toEqual([]);
  });

  it.each([
    ['a title that was changed', '[this.test] “%s: every npm command is a scripts”'],
    ['a part of a title', '[this.test] “every npm command is a script”'],
    ['a title of another group', '[this.test] “a quotation › %s: every npm command is a script”'],
    ['a row that was changed', '[this.test] “a quotation” ‘docs/*.md’'],
    ['a file that is not named', '“a quotation”'],
    ['a file that is not there', '[that.test] “a quotation”'],
  ])('is not found when it is %s', (_case, row) => {
    expect(unfound(`| ${row} |`)).toHaveLength(1);
  });
});
