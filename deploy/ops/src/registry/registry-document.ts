import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { anyPublicUrl, parseRegistry, type Registry, withPublicUrl } from '@clinical-launch/contracts';

/** A registry file as it is written, with what it says. */
export type RegistryDocument = { readonly path: string; readonly text: string; readonly registry: Registry };

/** Reads a registry file. @throws Error when it cannot be read or used */
export async function readDocument(path: string): Promise<RegistryDocument> {
  const text = await readFile(path, 'utf8');
  return { path, text, registry: parse(text) };
}

/**
 * Writes a registry file whole or not at all, and only what can be used: whoever follows the file never sees a half
 * of it.
 * @throws Error when the new text cannot be used, or somebody else changed the file in the meantime
 */
export async function writeDocument(before: RegistryDocument, text: string): Promise<void> {
  parse(text);
  // What a link points to is replaced, and not the link.
  const path = await realpath(before.path);
  const { mode } = await stat(path);
  const draft = `${path}.${process.pid}.new`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      // The umask of whoever runs this must not take the file from the services that read it.
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

function parse(text: string): Registry {
  return parseRegistry(JSON.parse(withPublicUrl(text, anyPublicUrl)), { publicUrl: anyPublicUrl });
}
