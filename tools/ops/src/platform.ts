import { existsSync } from 'node:fs';
import type { Option } from '@clinical-launch/process/command-line';
import type { ToolCommand } from './command.ts';

const root = new URL('../../../', import.meta.url);

/** Whether the platform is installed beside this program, as in a clone. An operator image has none. */
export const hasPlatform: boolean = existsSync(new URL('tools/platform/src/main.ts', root));

const setting = (name: string, value: string, variable: string): Option => ({
  name,
  value,
  summary: `As the setting ${variable} does`,
  isOptional: true,
});
const variables = { port: 'PORT', 'public-url': 'PUBLIC_URL', registry: 'REGISTRY_FILE' } as const;

/** Starts the platform, which keeps running after the command has ended. */
export const start: ToolCommand = {
  example: '--port 9000',
  options: [
    setting('port', 'number', variables.port),
    setting('public-url', 'origin', variables['public-url']),
    setting('registry', 'file', variables.registry),
  ],
  async run({ options }) {
    for (const [name, variable] of Object.entries(variables)) {
      const [value] = options.get(name) ?? [];
      if (value !== undefined) process.env[variable] = value;
    }
    const file = new URL('.env', root);
    if (existsSync(file)) process.loadEnvFile(file);
    await import('@clinical-launch/platform/main');
    return { lines: [], result: {} };
  },
};

/** Plays both launches on a platform of its own, or on the platform at `BASE_URL`. */
export const demo: ToolCommand = {
  async run() {
    await import('@clinical-launch/platform/play');
    return { lines: [], result: {}, problems: process.exitCode ? ['The demo failed'] : [] };
  },
};
