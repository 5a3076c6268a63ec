import type { LaunchPolicy } from '@clinical-launch/contracts/registry';
import type { Answers } from '@clinical-launch/process/command-line';
import { setValue } from './edit-json.ts';
import { findEntry } from './entries.ts';
import type { Edit, Reported } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

type StatedPractices = NonNullable<LaunchPolicy['practices']>;

/** Returns the error of a stated practice, which must be `any` or a code. */
export const practiceFault = (stated: string): string | undefined =>
  /^((ods|local):\S{1,1024}|[^\s:]{1,1024})$/.test(stated)
    ? undefined
    : 'must be any, or a code such as B82017, ods:B82017 or local:0042';

/**
 * Returns stated practices (`any`, or `ods:B82017 local:0042`) in the form of the registry file.
 * @throws Error if `any` is stated together with codes
 */
export function practicesOf(stated: readonly string[]): StatedPractices {
  // Without its code set, a code is an ODS code, as the reports print it.
  const codes = stated.map((one) => (one.includes(':') ? one : `ods:${one}`));
  if (!stated.includes('any')) return [...new Set(codes)].map(practiceOf);
  if (stated.length > 1) throw new Error('--practices must be any, or the codes of practices, not both');
  return 'any';
}

function practiceOf(stated: string): Exclude<StatedPractices, 'any'>[number] {
  const system = stated.startsWith('ods:') ? 'ods-organization-code' : 'local-org-code';
  return { system, code: stated.slice(stated.indexOf(':') + 1) };
}

/** Replaces the practices that a client may launch for. The change applies from the next launch. */
export function setPractices({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const { path } = findEntry(registry, answers);
  const practices = practicesOf(answers.get('practices') ?? []);
  return { text: setValue(text, [...path, 'practices'], practices), reported: reportPractices(practices) };
}

/** Reports which practices a client may launch for. Production refuses a client without stated practices. */
export function reportPractices(practices: StatedPractices | undefined): Reported {
  if (practices === undefined) {
    return [['practices', 'not stated: production refuses the client until set-practices states them']];
  }
  return [['practices', practices === 'any' ? 'any' : practices.map(({ code }) => code).join(' ')]];
}
