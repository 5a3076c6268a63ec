import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const widest = 110;

/** Words that readers have to decode, each with the words to use instead. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\banew\b/i, 'again'],
  [/\bwhoever\b|\bwhomever\b/i, 'anyone who, callers that'],
  [/\bwherefrom\b/i, 'from which'],
  [/\bbe had\b/i, 'be fetched, be available'],
  [/\b(?:for so long|so long (?:at least|after|until))\b/i, 'the time in seconds or milliseconds'],
  [/\bat the most\b/i, 'at most'],
  [/\b(?:one|realm|platform|query|tables?|servers?) of ours\b/i, 'our'],
  [/\bput upon\b/i, 'added to'],
  [
    /\b(?:it|this|that|name|which) stands (?:for|in|at|on|behind)\b|\bwhat stands\b/i,
    'is, replaces, appears',
  ],
  [/\bmeanwhile\.?$/i, 'while …, until then'],
  [
    /\btold (?:of|by|apart|so|that|what|loudly|in)\b|\b(?:is|are|be|was) told\b/i,
    'reported, logged, notified',
  ],
  [/\btells? of\b/i, 'reports, describes'],
  [/\bgive(?:s|n)? up\b|\bgave up\b/i, 'stop after, discard'],
  [/\bgoes on\b|\bgo on\b/i, 'continue'],
  [/\bmend(?:s|ed)?\b/i, 'fix, correct'],
];

type Comment = { readonly place: string; readonly text: string };

/** Comments of TypeScript and JavaScript, Lua and Nunjucks, one match for each line or block. */
const patterns: Readonly<Record<string, RegExp>> = {
  ts: /^[ \t]*(?:\/\/.*(?:\n[ \t]*\/\/.*)*|\/\*[^]*?\*\/)|(?<=[\s;,{(])\/\/ .*|(?<=[\s;,{(])\/\*\*? .*?\*\//gm,
  lua: /^[ \t]*--.*(?:\n[ \t]*--.*)*|\s-- .*/gm,
  njk: /\{#[^]*?#\}/g,
};

function commentsOf(path: string): Comment[] {
  const source = readFileSync(`${root}${path}`, 'utf8');
  const extension = path.slice(path.lastIndexOf('.') + 1);
  const pattern = patterns[extension === 'js' ? 'ts' : extension] ?? /$^/g;
  return [...source.matchAll(pattern)].map((match) => ({
    place: `${path}:${source.slice(0, match.index).split('\n').length}`,
    text: match[0],
  }));
}

/** The words of a comment without its marks, its line breaks and its quoted code. */
const proseOf = ({ text }: Comment) =>
  text
    .replaceAll(/^[ \t]*(?:\/\/|\/?\*+\/?|--|\{#)/gm, ' ')
    .replaceAll(/`[^`]*`/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/ ?(?:\*\/|#\})$/, '');

const paths = globSync(['{libs,services,deploy}/**/*.{ts,js,njk,lua}'], {
  cwd: root,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(String(path)),
}).toSorted();
const comments = paths.flatMap(commentsOf);

describe('a comment', () => {
  it(`has at most ${widest} columns`, () => {
    const tooWide = paths.flatMap((path) =>
      readFileSync(`${root}${path}`, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          line.length > widest && /^\s*(?:\/\/|\/?\*|--|\{#)|[\s;,{(]\/\/ /.test(line)
            ? [`${path}:${index + 1}`]
            : [],
        ),
    );
    expect(tooWide).toEqual([]);
  });

  it('uses words that every reader knows', () => {
    const found = comments.flatMap((comment) =>
      replacements.flatMap(([words, instead]) => {
        const match = words.exec(proseOf(comment));
        return match === null ? [] : [`${comment.place}: “${match[0]}”, better: ${instead}`];
      }),
    );
    expect(found).toEqual([]);
  });
});
