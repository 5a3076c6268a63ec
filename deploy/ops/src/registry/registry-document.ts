import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { anyPublicUrl, parseRegistry, type Registry, withPublicUrl } from '@clinical-launch/contracts';

/** The text of a registry file, and what it says. */
export type RegistryDocument = { readonly path: string; readonly text: string; readonly registry: Registry };

/** Reads a registry file. @throws Error if it cannot be read or used */
export async function readDocument(path: string): Promise<RegistryDocument> {
  const text = await readFile(path, 'utf8');
  return { path, text, registry: parseDocument(text) };
}

/**
 * Writes a registry file whole or not at all, and only one that can be used: a service that follows the file
 * never reads half of it.
 * @throws Error if the new text cannot be used, or somebody else changed the file since it was read
 */
export async function writeDocument(before: RegistryDocument, text: string): Promise<void> {
  parseDocument(text);
  // Replaces the target of a link, and not the link.
  const path = await realpath(before.path);
  const { mode } = await stat(path);
  const draft = `${path}.${process.pid}.new`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      // The umask of the operator must not hide the file from the services that read it.
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if ((await readFile(path, 'utf8')) !== before.text) {
      throw new Error('The file was changed in the meantime: nothing was written, try again');
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Returns what the text of a registry file says, away from its platform.
 * @throws Error if it cannot be used
 */
export function parseDocument(text: string): Registry {
  return parseRegistry(JSON.parse(withPublicUrl(text, anyPublicUrl)), { publicUrl: anyPublicUrl });
}
