import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Directory, directoryError, parseDirectory } from '@clinical-launch/contracts/directory';
import { clientsIn, earlierCodesInUse } from '@clinical-launch/contracts/earlier-codes';
import type { LaunchPolicy, Registry } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { optionalText } from '@clinical-launch/contracts/type';
import { findJsonSyntaxFault, placeIn } from '@clinical-launch/http/json-syntax';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { parseDirectoryCsv } from './directory-csv.ts';
import { readRegistryFile, type WatchedFile, watchFile } from './registry-file.ts';

/**
 * The current directories, which list the practices, performers and clinicians agreed with each client (OLTR:
 * "values must be agreed").
 */
export type Directories = {
  /**
   * Returns the directory of a client, or undefined if every value is accepted. @throws Error for a directory
   * that `follow` has not opened
   */
  of(policy: Pick<LaunchPolicy, 'directory'>): Directory | undefined;
};

export type FollowedDirectories = Directories & {
  /**
   * Follows the directory files that the clients of a registry name. Continues to follow a file that a later
   * registry no longer names, because a request may still use it. Call it before the registry takes effect.
   * @throws TypeError that names the entry of the registry, and lists every error of its directory; also if a
   *   directory contains an earlier code of a practice
   */
  follow(registry: Registry): void;
  stop(): void;
};

type Options = {
  /** The directory of clients that name no directory of their own. */
  readonly sharedFile: string | undefined;
  /** The registry file. The paths of directory files are relative to it. */
  readonly registryFile: string | URL;
  readonly publicUrl: string;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  readonly everyMs?: number;
};

/**
 * Reads the shared directory, and reads the directory of a client when `follow` is called. Follows each file
 * in the same way as the registry file.
 * @throws TypeError that lists every error of the shared directory
 */
export function openDirectories({ sharedFile, registryFile, ...options }: Options): FollowedDirectories {
  const { publicUrl, logger, everyMs } = options;
  const watch = (path: string) =>
    watchFile(path, {
      parse: (text) => parseDirectoryText(text, path),
      onChange: () => logger.info({ file: path }, 'the changed directory is in use'),
      onFault: (error) =>
        logger.error(
          { err: error, file: path },
          'the changed directory is invalid, so the previous directory stays in use',
        ),
      ...withoutUndefined({ everyMs }),
    });
  const shared = sharedFile === undefined ? undefined : watch(sharedFile);
  const byName = new Map<string, WatchedFile<Directory>>();
  const of: Directories['of'] = ({ directory: name }) => {
    if (name === undefined) return shared?.current();
    const own = byName.get(name);
    if (own === undefined) throw new Error('The directory of a client is not followed');
    return own.current();
  };
  return {
    of,
    follow(registry) {
      for (const { name, path } of directoriesOf(registry)) {
        if (byName.has(name)) continue;
        byName.set(
          name,
          named(path, () => watch(besideRegistry(registryFile, name))),
        );
      }
      const [listed] = listedEarlierCodes(registry, publicUrl, of);
      if (listed !== undefined) throw new TypeError(listed);
    },
    stop() {
      for (const watched of [shared, ...byName.values()]) watched?.stop();
    },
  };
}

/** Returns an error for each earlier code of a practice that is in the directory of a client. */
export const listedEarlierCodes = (registry: Registry, publicUrl: string, of: Directories['of']): string[] =>
  earlierCodesInUse(
    registry,
    clientsIn(registry, publicUrl).map(({ policy, path, ...scope }) => ({
      ...scope,
      place: `the directory of ${path}`,
      codes: of(policy)?.practices ?? new Map(),
    })),
  ).map(({ path, message }) => `${path} ${message}`);

/** The setting `DIRECTORY_FILE`, for the reference of settings. */
export const directorySettings = {
  DIRECTORY_FILE: optionalText({
    title:
      'The agreed practices, users, clinicians and performers, as JSON or CSV. Without it, every value is accepted.',
  }),
};

/**
 * Checks the shared directory (`DIRECTORY_FILE`) and the directories that the registry (`REGISTRY_FILE`)
 * names. Returns the path of the shared directory. The registry's own check reports a registry that cannot be
 * read.
 * @throws ConfigurationError that lists every error of every directory, without values
 */
export function readDirectories({
  DIRECTORY_FILE,
  REGISTRY_FILE,
  PUBLIC_URL,
}: Environment): string | undefined {
  const sharedFile = DIRECTORY_FILE || undefined;
  const problems = sharedFile === undefined ? [] : problemsOf('DIRECTORY_FILE', sharedFile);
  const registry = REGISTRY_FILE ? readableRegistry(REGISTRY_FILE, PUBLIC_URL) : undefined;
  for (const { name, path } of registry === undefined ? [] : directoriesOf(registry)) {
    problems.push(...problemsOf(`REGISTRY_FILE: ${path}:`, besideRegistry(REGISTRY_FILE ?? '', name)));
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return sharedFile;
}

function readableRegistry(path: string, publicUrl: string | undefined): Registry | undefined {
  try {
    return readRegistryFile(path, { publicUrl: publicUrl || 'http://localhost' });
  } catch {
    return undefined;
  }
}

function problemsOf(named: string, path: string): string[] {
  try {
    readDirectoryFile(path);
    return [];
  } catch (error) {
    return [`${named} ${reasonOf(error)}`];
  }
}

/**
 * Returns the message of an error: the errors of a directory without its values, or the error code of the
 * system.
 */
function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return error.message;
  const { code } = error as { readonly code?: unknown };
  return `cannot be read (${String(code)})`;
}

function named<Made>(path: string, make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    throw new TypeError(`${path} ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Returns the name of every directory file in a registry, and the path of the entry that contains the name.
 */
const directoriesOf = (registry: Registry): { name: string; path: string }[] =>
  clientsIn(registry, '').flatMap(({ policy: { directory: name }, path }) =>
    name === undefined ? [] : [{ name, path: `${path}.directory` }],
  );

const besideRegistry = (registryFile: string | URL, name: string) =>
  resolve(dirname(registryFile instanceof URL ? fileURLToPath(registryFile) : registryFile), name);

/**
 * Reads a directory file.
 * @throws TypeError that lists every error of the directory, without values, or the error of the system if
 * the file cannot be read
 */
export const readDirectoryFile = (path: string): Directory =>
  parseDirectoryText(readFileSync(path, 'utf8'), path);

/** Reads a directory: CSV if the name of the file ends in `.csv`, otherwise JSON. */
function parseDirectoryText(text: string, path: string): Directory {
  if (path.toLowerCase().endsWith('.csv')) return parseDirectoryCsv(text);
  return parseDirectory(parseJson(text));
}

/**
 * Parses JSON. @throws TypeError that names the position of the error. The message of JSON.parse would quote
 * the text
 */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { at, message } = findJsonSyntaxFault(text);
    const { line, column } = placeIn(text, at);
    throw directoryError([`${message}, at line ${line}, column ${column}`]);
  }
}
