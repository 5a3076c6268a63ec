import { open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { anyPublicUrl, withPublicUrl } from '@clinical-launch/contracts/addresses';
import type { Registry } from '@clinical-launch/contracts/registry';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { readJsonText } from '@clinical-launch/process/operator-files';

export type RegistryDocument = { readonly path: string; readonly text: string; readonly registry: Registry };

/** Reads a registry file. @throws Error if it cannot be read or is invalid */
export async function readDocument(path: string): Promise<RegistryDocument> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    const remedy =
      'Create it with `./clinical-launch registry init`, or give the path of another with --file';
    throw new Error(`There is no registry file ${path}. ${remedy}`, { cause });
  });
  return { path, text, registry: parseDocument(text) };
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Writes a new file. @throws Error if the file exists or cannot be written */
export async function createFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'EEXIST') throw new Error(`${path} already exists, so nothing was written`, { cause });
    if (code !== 'ENOENT') throw cause;
    throw new Error(`The directory of ${path} does not exist. Create it first`, { cause });
  }
}

/**
 * Writes a valid registry file atomically, so that services that watch the file never read an incomplete
 * file.
 * @throws Error if the new text is invalid, or another user changed the file since it was read
 */
export async function writeDocument(before: RegistryDocument, text: string): Promise<void> {
  parseDocument(text);
  // Replaces the target of a link, not the link itself.
  const path = await realpath(before.path);
  const { mode } = await stat(path);
  const draft = `${path}.${process.pid}.new`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      // Keeps the mode despite the operator's umask, so that the services can read the file.
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await readFile(path, 'utf8')) !== before.text) {
      throw new Error('The file has changed since it was read, so nothing was written. Try again');
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Returns the content of a registry file. Accepts any `PUBLIC_URL`, because the command may run outside the
 * platform.
 * @throws TypeError with the line and column of each error
 */
export function parseDocument(text: string): Registry {
  return readJsonText(text, () =>
    parseRegistry(JSON.parse(withPublicUrl(text, anyPublicUrl)), { publicUrl: anyPublicUrl }),
  );
}
