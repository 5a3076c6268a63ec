import { readFileSync } from 'node:fs';
import { type SealingPurpose, sealingPurposes } from '@clinical-launch/crypto/sealing-purposes';
import { mainOf, root } from './run-command.ts';

/** Returns the purposes for which a service opens sealers, in the order in which its `main.ts` names them. */
export function purposesOf(service: string): SealingPurpose[] {
  const main = readFileSync(`${root}${mainOf(service)}`, 'utf8');
  const [, list = ''] = /openSealers\(environment, \[([^\]]*)\]/.exec(main) ?? [];
  const named = [...list.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name);
  return named.flatMap((name) => sealingPurposes.filter((purpose) => purpose === name));
}
