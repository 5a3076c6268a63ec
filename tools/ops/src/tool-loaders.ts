import type { Tool } from './command.ts';

/**
 * The loaders of the tools of `npm run ops`, by name. A command loads only its own tool, because loading all
 * tools takes a second.
 */
export const toolLoaders: Readonly<Record<string, () => Promise<Tool>>> = {
  registry: async () => (await import('./registry/registry.ts')).registry,
  deliveries: async () => (await import('./deliveries/deliveries.ts')).deliveries,
  'dead-letters': async () => (await import('./dead-letters/dead-letters.ts')).deadLetters,
  launches: async () => (await import('./launches/launches.ts')).launches,
  audit: async () => (await import('./audit/audit.ts')).audit,
  conformance: async () => (await import('./conformance/conformance.ts')).conformance,
  catalogue: async () => (await import('./catalogue/catalogue.ts')).catalogue,
  migrate: async () => (await import('./deployment.ts')).migrateDatabase,
  secrets: async () => (await import('./deployment.ts')).secrets,
  deploy: async () => (await import('./deployment.ts')).deploy,
  access: async () => (await import('./deployment.ts')).access,
};
