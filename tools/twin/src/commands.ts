import type { Command } from './command.ts';

/** The commands of the twin by name. The code of a command is loaded when it runs. */
export const commands: Readonly<Record<string, Command>> = {
  start: {
    summary: 'Starts the platform, and prints `ready` and its address',
    options: {
      port: { value: 'number', summary: 'The port, or 0 for any free port. Default: 8080' },
      host: { value: 'address', summary: 'The address to listen on. Default: 127.0.0.1' },
      'public-url': {
        value: 'origin',
        summary: 'The origin that others use. Default: http://localhost:<port>',
      },
      registry: { value: 'file', summary: 'The registry of clients. Default: the registry of the demo' },
      'log-level': { value: 'level', summary: 'The least severe log lines. Default: warn' },
    },
    run: async (given) => (await import('./start.ts')).start(given),
  },
};
