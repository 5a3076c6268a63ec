import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { root } from './rows.ts';

/** A record of a decision: `docs/decisions/<name>`. */
export type DecisionRecord = {
  readonly name: string;
  /** The question that people ask. */
  readonly question: string;
  readonly status: string;
  /** `2026-11-21`. */
  readonly date: string;
  /** The first sentence of the decision. */
  readonly answer: string;
};

const folder = 'docs/decisions';
const headings = ['Context', 'Decision', 'Alternatives', 'Consequences', 'Held by'];

/**
 * Returns every record, by its file name.
 * @throws Error that names each record which is not written as the others are.
 */
export function readRecords(): DecisionRecord[] {
  const names = globSync(`${folder}/*.md`, { cwd: root }).map((path) => basename(path));
  const records = names
    .filter((name) => name !== 'README.md')
    .toSorted()
    .map((name) => recordIn(name, readFileSync(`${root}${folder}/${name}`, 'utf8')));
  const faults = records.filter((record) => typeof record === 'string');
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return records.filter((record) => typeof record !== 'string');
}

/** Returns a record, or what is wrong with it. */
function recordIn(name: string, text: string): DecisionRecord | string {
  const head = /^# (?<question>.+\?)\n\n- Status: (?<status>.+)\n- Date: (?<date>\d{4}-\d\d-\d\d)\n\n/.exec(
    text,
  );
  if (head?.groups === undefined) return `${name}: must begin with a question, its status and its date`;
  const found = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  if (found.join() !== headings.join()) return `${name}: must have the headings ${headings.join(', ')}`;
  const { question = '', status = '', date = '' } = head.groups;
  return { name, question, status, date, answer: firstSentence(text.split('\n## Decision\n\n')[1] ?? '') };
}

/** Up to the first full stop at the end of a word. */
const firstSentence = (text: string) => (/^[^]*?\.(?=\s|$)/.exec(text)?.[0] ?? text).replaceAll('\n', ' ');

/**
 * Returns `docs/decisions/README.md`: the questions with their answers.
 * @throws Error as `readRecords`.
 */
export function recordIndex(): string {
  const rows = readRecords().map(
    ({ name, question, answer, status, date }) =>
      `| [${question}](${name}) | ${answer} | ${status === 'accepted' ? date : `${date}, ${status}`} |`,
  );
  return `<!-- Written by \`npm run docs\` from the records in this folder. -->

# Records of decisions

Half a page for each question that people ask: context, decision, alternatives, consequences, and the tests that hold
it. Every smaller decision is a row of [decisions.md](../decisions.md).

| question | answer | since |
|---|---|---|
${rows.join('\n')}

To add a record, copy one, keep its headings, and run \`npm run docs\`. Where a row of a decisions.yaml says the same in
short, give it the path as \`record\`. A record that no longer holds stays: its status names the one that replaced it.
`;
}
