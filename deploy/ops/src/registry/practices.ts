import type { LaunchPolicy } from '@clinical-launch/contracts';
import { findClient } from './find-client.ts';
import { addMember, replaceValue } from './json-text.ts';
import { type Answers, questions as q } from './questions.ts';
import type { RegistryDocument } from './registry-document.ts';

type StatedPractices = NonNullable<LaunchPolicy['practices']>;
type Told = readonly (readonly [string, string])[];

/**
 * Returns the practices that the answers state (`any`, or `ods:B82017 local:0042`), as the registry writes them.
 * @throws Error when `any` is stated together with codes
 */
export function statedPractices(answers: Answers): StatedPractices | undefined {
  const stated = answers.get(q.practices.option);
  if (stated === undefined || stated.length === 0) return undefined;
  if (!stated.includes('any')) return [...new Set(stated)].map(practiceOf);
  if (stated.length > 1) throw new Error('--practices is any, or the codes of practices, not both');
  return 'any';
}

function practiceOf(stated: string): Exclude<StatedPractices, 'any'>[number] {
  const system = stated.startsWith('ods:') ? 'ods-organization-code' : 'local-org-code';
  return { system, code: stated.slice(stated.indexOf(':') + 1) };
}

/** Replaces the practices that a client may launch for; launches that begin afterwards are held to them. */
export function setPractices(document: RegistryDocument, answers: Answers): { text: string; told: Told } {
  const { path, client } = findClient(document, answers);
  const value = statedPractices(answers);
  const text =
    client.practices === undefined
      ? addMember(document.text, path, { name: 'practices', value })
      : replaceValue(document.text, [...path, 'practices'], value);
  return { text, told: toldOfPractices(value) };
}

/** Says which practices a client may launch for. Production refuses a client for which none are stated. */
export function toldOfPractices(practices: StatedPractices | undefined): Told {
  if (practices === undefined) {
    return [['practices', 'not stated: production refuses the client until set-practices states them']];
  }
  return [['practices', practices === 'any' ? 'any' : practices.map(({ code }) => code).join(' ')]];
}
