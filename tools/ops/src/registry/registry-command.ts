import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { anyPublicUrl } from '@clinical-launch/contracts/addresses';
import type { Registry } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import type { Answers, Option } from '@clinical-launch/process/command-line';
import { readText, UsageError } from '@clinical-launch/process/command-line';
import { readJsonText } from '@clinical-launch/process/operator-files';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { isProduction } from '@clinical-launch/runtime/environment';
import { listedEarlierCodes, readDirectoryFile } from '@clinical-launch/trust/directory-file';
import type { Command, Input } from '../command.ts';
import { entriesIn } from './entries.ts';
import { options as o } from './options.ts';
import {
  createFile,
  parseDocument,
  type RegistryDocument,
  readDocument,
  writeDocument,
} from './registry-document.ts';

/** The report of a command, one line per entry: `client_secret: …`. */
export type Reported = readonly (readonly [name: string, value: string])[];

/** The effect of a command on a registry: the new text of the file, if it changes, and the report. */
export type Edit = {
  readonly text?: string;
  readonly reported: Reported;
  /** The result for `--json`, if it differs from the report. */
  readonly result?: unknown;
  readonly problems?: readonly string[];
  /** An additional file to create. If this file cannot be written, nothing is changed. */
  readonly newFile?: { readonly path: string; readonly text: string };
};

export type Context = {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isProduction: boolean;
  /** `PUBLIC_URL`, or a placeholder if that variable is not set. */
  readonly publicUrl: string;
  readonly audience: string;
  /** Whether `SEALING_KEYS_CALLBACK` or `SEALING_KEYS` is set. Without them, the demo's key is used. */
  readonly hasKeys: boolean;
  /** @throws ConfigurationError if the keys are invalid */
  openSealer(): Sealer;
};

const publicUrlSetting = {
  name: 'PUBLIC_URL',
  summary: 'The address of the platform, for the reported addresses',
};
const audienceSetting = {
  name: 'AUDIENCE',
  summary: 'The audience of access tokens, if it is not the default',
};

type RegistryCommand = {
  readonly summary: string;
  readonly details?: string;
  readonly example?: string;
  readonly options: readonly Option[];
  /** Whether the command uses the sealing keys of callback secrets. */
  readonly seals?: true;
  /** `of addresses`: reports addresses of the platform. `a vendor`: also reports the scope for a vendor. */
  readonly informs?: 'of addresses' | 'a vendor';
  /** @throws Error with the reason. In this case, nothing is written */
  readonly edit: (document: RegistryDocument, answers: Answers, context: Context) => Edit;
};

/** The start of reported addresses if `PUBLIC_URL` is not set. */
export const placeholder = '{PUBLIC_URL}';

export const registryFile = { name: 'REGISTRY_FILE', summary: 'The registry file, if --file is not given' };
const sealingKeys = {
  name: 'SEALING_KEYS_CALLBACK',
  summary: 'The sealing keys for callback secrets, or SEALING_KEYS. Each can be read from a file (_FILE)',
};

/** Creates a command that reads a registry file and changes it atomically. */
export function registryCommand({ options, seals, informs, edit, ...texts }: RegistryCommand): Command {
  return {
    ...texts,
    options: [...options, o.file],
    settings: [
      registryFile,
      ...(seals ? [sealingKeys] : []),
      ...(informs ? [publicUrlSetting] : []),
      ...(informs === 'a vendor' ? [audienceSetting] : []),
    ],
    isInteractive: true,
    async run(input) {
      const document = await readDocument(pathOf(input));
      const context = contextOf(input);
      const { text, result, problems, newFile, ...edited } = edit(document, input.options, context);
      const reported = edited.reported.map(
        ([name, value]) => [name, value.replace(placeholder, context.publicUrl)] as const,
      );
      if (text !== undefined) {
        assertNewDirectories(document, text);
        await writeBoth(document, text, newFile);
      }
      return {
        lines: reported.map(([name, value]) => (name === '' ? value : `${name}: ${value}`)),
        result: result ?? Object.fromEntries(reported.map(([name, value]) => [wordOf(name), value])),
        ...withoutUndefined({ problems }),
      };
    },
  };
}

/** Writes both the registry and the new file, or neither. */
async function writeBoth(document: RegistryDocument, text: string, newFile: Edit['newFile']): Promise<void> {
  if (newFile === undefined) return writeDocument(document, text);
  await createFile(newFile.path, newFile.text);
  try {
    await writeDocument(document, text);
  } catch (error) {
    await rm(newFile.path);
    throw error;
  }
}

/** Returns the path of the registry file. @throws UsageError if no path is given */
export function pathOf({ options, environment }: Input): string {
  const path = options.get(o.file.name)?.at(-1) ?? environment[registryFile.name];
  if (path === undefined || path === '') {
    throw new UsageError('--file is missing, and REGISTRY_FILE is not set');
  }
  return path;
}

const contextOf = ({ environment, now }: Input): Context => ({
  now,
  isProduction: isProduction(environment),
  publicUrl: environment['PUBLIC_URL'] || placeholder,
  audience: environment['AUDIENCE'] || 'api://clinical-launch',
  hasKeys: Boolean(environment['SEALING_KEYS_CALLBACK'] || environment['SEALING_KEYS']),
  openSealer: () => openSealers(environment, ['callback'], { acceptsShared: true }).callback,
});

/** Returns a name as the name of a JSON member: `sealed with the key` → `sealed_with_the_key`. */
const wordOf = (name: string) => name.replaceAll(' ', '_');

/**
 * Checks new directories, because the services refuse a registry that names a directory that they cannot
 * read.
 */
function assertNewDirectories({ path, registry }: RegistryDocument, text: string): void {
  const known = new Set(directoriesIn(registry));
  const added = directoriesIn(parseDocument(text)).filter((name) => !known.has(name));
  const problems = directoryProblems(path, added);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** Returns the directory files of all clients. */
export const directoriesIn = (registry: Registry): string[] => [
  ...new Set(entriesIn(registry).flatMap(({ client: { directory } }) => directory ?? [])),
];

/** Returns the errors of directory files, whose paths are relative to the registry file. */
export const directoryProblems = (registryPath: string, names: readonly string[]): string[] =>
  names.flatMap((name) => {
    try {
      const path = resolve(dirname(registryPath), name);
      // A path in a CSV file is no path in JSON, so its faults stay as they are.
      readJsonText(readText(path), () => readDirectoryFile(path));
      return [];
    } catch (error) {
      return [`The directory ${name} is invalid: ${error instanceof Error ? error.message : String(error)}`];
    }
  });

/** Returns an error for each earlier code of a practice that is in a readable directory of the registry. */
export const listedIn = ({ path, registry }: RegistryDocument): string[] =>
  listedEarlierCodes(registry, anyPublicUrl, ({ directory: name }) =>
    name === undefined || directoryProblems(path, [name]).length > 0
      ? undefined
      : readDirectoryFile(resolve(dirname(path), name)),
  );
