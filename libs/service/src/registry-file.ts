import { readFileSync } from 'node:fs';
import { parseRegistry, type Registry } from '@clinical-launch/contracts';

/**
 * Reads the registry file: JSON, in which `${PUBLIC_URL}` stands for the platform's own address.
 * @throws TypeError that lists every fault by its path, or says that the file cannot be read.
 */
export function readRegistryFile(path: string | URL, { publicUrl }: { publicUrl: string }): Registry {
  const text = readFileSync(path, 'utf8').replaceAll('${PUBLIC_URL}', publicUrl);
  return parseRegistry(JSON.parse(text));
}
