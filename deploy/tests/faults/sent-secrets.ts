import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partsOf } from '@clinical-launch/testing';
import type { HttpRequest } from './send-request.ts';

const suffix = '.secrets.json';
const sent = new Set<string>();

/** Remembers what is secret of a request: tokens, verifiers, codes and cookies. */
export function keepSecretsOf({ url, headers }: HttpRequest): void {
  const { searchParams } = new URL(url);
  const { Authorization: authorization = '', Cookie: cookie = '' } = headers ?? {};
  for (const value of [...searchParams.values(), authorization, cookie]) {
    for (const part of partsOf(value)) sent.add(part);
  }
}

/** Writes what this process remembers, for the process that searches for it. */
export function writeSecrets(directory: string, name: string): void {
  writeFileSync(join(directory, name + suffix), JSON.stringify([...sent]));
}

/** Returns every secret that this process sent, or that others did and wrote. */
export function readSecrets(directory: string): ReadonlySet<string> {
  const written = readdirSync(directory)
    .filter((file) => file.endsWith(suffix))
    .flatMap((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as string[]);
  return new Set([...sent, ...written]);
}
