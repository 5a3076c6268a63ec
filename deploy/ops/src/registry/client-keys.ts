import { readFileSync } from 'node:fs';
import { type Answers, questions as q } from './questions.ts';

/**
 * Returns the members of a registry entry that hold a client's keys, from `--jwks` (a file with a JWK Set, or one
 * JWK) or `--jwks-uri`; undefined when neither is given. The registry's own check judges the keys.
 * @throws Error when the file cannot be read
 */
export function keysOf(
  answers: Answers,
): { readonly jwks: unknown } | { readonly jwksUri: string } | undefined {
  const [path] = answers.get(q.jwks.option) ?? [];
  const [jwksUri] = answers.get(q.jwksUri.option) ?? [];
  if (path !== undefined && jwksUri !== undefined) throw new Error('Give --jwks or --jwks-uri, not both');
  if (jwksUri !== undefined) return { jwksUri };
  return path === undefined ? undefined : { jwks: readKeySet(path) };
}

function readKeySet(path: string): unknown {
  const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const isSet = typeof read === 'object' && read !== null && 'keys' in read;
  return isSet ? read : { keys: [read] };
}
