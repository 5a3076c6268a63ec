import type { JSONPath } from 'jsonc-parser';
import type { Answers } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { removeValue, setValue } from './edit-json.ts';
import { type Member, membersIn } from './members.ts';
import { options as o } from './options.ts';
import type { Edit } from './registry-command.ts';

type Changes = { readonly answers: Answers; readonly members: readonly Member[] };

/**
 * Sets the members of an entry from the answers, and removes the members that `--clear` names. Before the
 * file is written, the registry's own check refuses an entry that lacks a required member.
 * @throws UsageError if nothing is to be changed, or an option cannot be cleared
 */
export function change(text: string, path: JSONPath, { answers, members }: Changes): Edit {
  const set = membersIn(answers, members);
  const changes = members.filter(({ name }) => name in set);
  const cleared = clearedBy(answers, members);
  if (changes.length + cleared.length === 0) {
    const options = members.map(({ option }) => `--${option.name}`);
    throw new UsageError(`There is nothing to change. Give --clear or one of ${options.join(' ')}`);
  }
  let changed = text;
  for (const member of changes) changed = setValue(changed, placeOf(path, member), set[member.name]);
  for (const member of cleared) changed = removeMember(changed, placeOf(path, member));
  return {
    text: changed,
    reported: [
      ...changes.map(({ name }) => [name, JSON.stringify(set[name])] as const),
      ...cleared.map(({ name }) => ['cleared', name] as const),
    ],
    result: { set, cleared: cleared.map(({ name }) => name) },
  };
}

const placeOf = (path: JSONPath, { within, name }: Member): JSONPath => [
  ...path,
  ...(within === undefined ? [] : [within]),
  name,
];

function clearedBy(answers: Answers, members: readonly Member[]): Member[] {
  return (answers.get(o.clear.name) ?? []).map((cleared) => {
    const member = members.find(({ option }) => option.name === cleared);
    if (member === undefined) throw new UsageError(`--clear has no option ${cleared} here`);
    if (answers.has(cleared)) throw new UsageError(`Give --${cleared} or --clear ${cleared}, not both`);
    return member;
  });
}

/** Removes a member, if it is present. */
function removeMember(text: string, path: JSONPath): string {
  try {
    return removeValue(text, path);
  } catch (error) {
    if (error instanceof TypeError) return text;
    throw error;
  }
}
