import type { Tools } from './command.ts';
import { hasPlatform } from './platform.ts';

/** The tools of the operator. */
export const tools: Tools = {
  ...(hasPlatform && {
    start: {
      summary: 'Starts the whole platform on this machine, with the demo outside production.',
      load: async () => (await import('./platform.ts')).start,
    },
    demo: {
      summary: 'Plays both launches against a platform of its own, or the platform at BASE_URL.',
      load: async () => (await import('./platform.ts')).demo,
    },
  }),
  registry: {
    summary:
      'Changes the registry file: realms, clients, partners, trusted issuers. Services apply changes without a restart.',
    load: async () => (await import('./registry/registry.ts')).registry,
  },
  deliveries: {
    summary: 'Lists and replays deliveries of order documents to callback addresses.',
    load: async () => (await import('./deliveries/deliveries.ts')).deliveries,
  },
  'dead-letters': {
    summary: 'Lists and replays events that a consumer failed to process.',
    load: async () => (await import('./dead-letters/dead-letters.ts')).deadLetters,
  },
  launches: {
    summary: 'Ends launches that are still live.',
    load: async () => (await import('./launches/launches.ts')).launches,
  },
  audit: {
    summary: 'Verifies and exports the audit trail.',
    load: async () => (await import('./audit/audit.ts')).audit,
  },
  conformance: {
    summary: 'Verifies the conformance statements of suppliers.',
    load: async () => (await import('./conformance/conformance.ts')).conformance,
  },
  catalogue: {
    summary: 'Checks a catalogue of tests, and imports tests from a spreadsheet.',
    load: async () => (await import('./catalogue/catalogue.ts')).catalogue,
  },
  migrate: {
    summary: 'Applies the pending migrations of every service.',
    load: async () => (await import('./deployment.ts')).migrateDatabase,
  },
  secrets: {
    summary: 'Creates the secrets for a deployment with Compose or Kubernetes.',
    load: async () => (await import('./deployment.ts')).secrets,
  },
  deploy: {
    summary: 'Checks the manifests of a deployment.',
    load: async () => (await import('./deployment.ts')).deploy,
  },
  smoke: {
    summary: 'Launches once as a practice system does, to see that a platform works.',
    load: async () => (await import('./smoke.ts')).smoke,
  },
  completion: {
    summary: 'Prints a script that completes commands and options in bash, zsh or fish.',
    load: async () => (await import('./completion.ts')).completionOf(tools),
  },
  access: {
    summary: 'Writes users.acl for Redis (aclfile) and definitions.json for RabbitMQ (load_definitions).',
    load: async () => (await import('./deployment.ts')).access,
  },
};
