import type { Command } from './command.ts';

/** The commands of the twin by name. The code of a command is loaded when it runs. */
export const commands: Readonly<Record<string, Command>> = {
  start: {
    summary: 'Starts the platform, and prints `ready` and its address',
    options: {
      port: { value: 'number', summary: 'The port, or 0 for any free port. Default: 8080' },
      host: { value: 'address', summary: 'The address to listen on. Default: 127.0.0.1' },
      'https-port': { value: 'number', summary: 'The port of HTTPS, for clients that require it' },
      'public-url': {
        value: 'origin',
        summary: 'The origin that others use. Default: localhost and the port',
      },
      client: { value: 'id', summary: 'The client id of your practice management system' },
      callback: { value: 'url', summary: 'The address of your system for callbacks' },
      registry: { value: 'file', summary: 'The registry of clients. Default: the registry of the demo' },
      'log-level': { value: 'level', summary: 'The least severe log lines. Default: warn' },
    },
    run: async (given) => (await import('./start.ts')).start(given),
  },
  'conformance run': {
    summary: 'Judges a client against the requirements of its guide, and exits with 0 or 1',
    options: {
      client: { value: 'id', summary: 'The client id of your product' },
      protocol: { value: 'name', summary: '`pms` or `partner`. Default: pms' },
      callback: { value: 'url', summary: 'Your address for callbacks, or for logout tokens' },
      'redirect-uri': { value: 'url', summary: 'The redirect URI of a partner' },
      'launch-url': { value: 'url', summary: 'The launch URL of a partner' },
      expect: { value: 'file', summary: 'The expected results: the --json file of an earlier run' },
      attest: { value: 'file', summary: 'JSON with the name of the person who attests a requirement, by id' },
      json: { value: 'file', summary: 'Writes the report as JSON' },
      junit: { value: 'file', summary: 'Writes the report as JUnit XML' },
      port: { value: 'number', summary: 'The port of the platform, or 0 for any free port. Default: 8080' },
      host: { value: 'address', summary: 'The address to listen on. Default: 127.0.0.1' },
    },
    rest: 'A command that makes your product launch. It runs for each step',
    run: async (given, words) => (await import('./conformance.ts')).conformanceRun(given, words),
  },
  listen: {
    summary: 'Passes the callbacks of a sandbox client to this machine, until you stop it',
    options: {
      client: {
        value: 'id',
        summary: 'The client id. Its secret is in the environment variable CLIENT_SECRET',
      },
      url: { value: 'origin', summary: 'The address of the platform' },
      'forward-to': {
        value: 'url',
        summary: 'Your address for callbacks, such as http://localhost:9000/callbacks',
      },
      realm: { value: 'name', summary: 'The realm of the client. Default: demo' },
      audience: { value: 'uri', summary: 'The audience of access tokens. Default: api://clinical-launch' },
    },
    run: async (given) => (await import('./listen.ts')).listen(given),
  },
};
