import type { Command } from '../command.ts';
import { options as o } from './options.ts';
import { pathOf, registryFile } from './registry-command.ts';
import { createFile } from './registry-document.ts';

const emptyRegistry = '{\n  "realms": []\n}\n';

/** Creates an empty registry file. */
export const init: Command = {
  summary: 'Creates an empty registry file. It never replaces an existing one.',
  options: [o.file],
  settings: [registryFile],
  async run(input) {
    const path = pathOf(input);
    await createFile(path, emptyRegistry);
    return { lines: [`registry: ${path}`, 'next: registry add-realm'], result: { registry: path } };
  },
};
