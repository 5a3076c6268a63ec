import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedImage, openEmbeddedStorage, type Storage } from '@clinical-launch/storage';

const variable = 'TEST_STORAGE_IMAGE';

/**
 * Makes the image that the embedded databases of a test run are opened from: made anew, each costs five seconds of a
 * processor.
 */
export async function provideStorageImage(): Promise<{ stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'clinical-launch-image-'));
  const path = join(directory, 'data.tar');
  await writeFile(path, (await createEmbeddedImage()).stream());
  process.env[variable] = path;
  return { stop: () => rm(directory, { recursive: true, force: true }) };
}

/** An embedded storage of its own for a test; empty. */
export async function openTestStorage(): Promise<Storage> {
  const path = process.env[variable];
  return openEmbeddedStorage(path === undefined ? {} : { image: await openAsBlob(path) });
}
