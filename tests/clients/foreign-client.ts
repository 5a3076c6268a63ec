import { existsSync, readFileSync } from 'node:fs';
import { it } from '@jest/globals';
import { root, run as runCommand } from '../system/run-command.ts';
import { startPlatformForTest } from '../system/running-platform.ts';

/** The folder of the programs, in which Node finds the libraries. */
export const folder = `${root}tests/clients`;
const guide = readFileSync(`${root}docs/guides/clients.md`, 'utf8');

/** Returns the first block of code below a heading of the guide. */
export function recipe(heading: string): string {
  const [, section = ''] = guide.split(new RegExp(`^#+ ${heading}\n`, 'm'));
  const [, code] = /^```\w+\n([^]*?)^```/m.exec(section) ?? [];
  if (code === undefined) throw new Error(`The guide has no block of code below "${heading}"`);
  return code;
}

/** Returns the text of a program in this folder. */
export const program = (file: string) => readFileSync(`${folder}/${file}`, 'utf8');

/** What a program is run with: its arguments before the code, and a file that shows that it is installed. */
const interpreters = {
  node: {
    command: process.execPath,
    options: ['--input-type=module', '-e'],
    library: `${folder}/node_modules/.package-lock.json`,
  },
  // Debian installs libraries for its own Python only.
  python3: {
    command: '/usr/bin/python3',
    options: ['-c'],
    library: '/usr/lib/python3/dist-packages/requests_oauthlib',
  },
  ruby: { command: 'ruby', options: ['-e'], library: '/usr/share/doc/ruby-openid-connect' },
  apache2: {
    command: '/usr/sbin/apache2',
    options: [],
    library: '/usr/lib/apache2/modules/mod_auth_openidc.so',
  },
};

export type Interpreter = keyof typeof interpreters;

/**
 * Defines a test that needs the libraries of an interpreter. Without them, reports it and skips the test. In
 * CI, the test fails instead.
 */
export function itWith(interpreter: Interpreter, title: string, run: () => Promise<void>): void {
  const isTested = existsSync(interpreters[interpreter].library) || process.env.CI !== undefined;
  if (!isTested)
    process.stderr.write(`Skipped, because the libraries for ${interpreter} are not installed: ${title}\n`);
  const define = isTested ? it : it.skip;
  define(title, run);
}

type Added = { readonly clients?: readonly object[]; readonly partners?: readonly object[] };

/** Starts a platform that also serves HTTPS, with additional clients and partners. */
export async function startForClients({ clients = [], partners = [] }: Added) {
  const platform = await startPlatformForTest({
    environment: { HTTPS_PORT: '0' },
    changeRegistry(text) {
      const registry = JSON.parse(text);
      registry.realms[0].clients.push(...clients);
      registry.realms[1].desktop.partners.push(...partners);
      return JSON.stringify(registry);
    },
  });
  const { certificate = '', publicUrl } = platform;
  return {
    ...platform,
    /** Starts a program of another language or library, which trusts the certificate of the platform. */
    start(interpreter: Interpreter, code: readonly string[], environment: NodeJS.ProcessEnv = {}) {
      const { command, options } = interpreters[interpreter];
      const trust = {
        NODE_EXTRA_CA_CERTS: certificate,
        REQUESTS_CA_BUNDLE: certificate,
        SSL_CERT_FILE: certificate,
      };
      return runCommand(command, [...options, ...code], { ...trust, ...environment }, folder);
    },
    /** Replaces the addresses of the guide. */
    here: (code: string) => code.replaceAll('localhost:8443', new URL(publicUrl).host),
  };
}
