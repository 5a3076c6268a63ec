import { audit } from './audit/audit.ts';
import { catalogue } from './catalogue/catalogue.ts';
import type { Tool } from './command.ts';
import { deadLetters } from './dead-letters/dead-letters.ts';
import { deliveries } from './deliveries/deliveries.ts';
import { access, migrateDatabase, secrets } from './deployment.ts';
import { registry } from './registry/registry.ts';

/** Every tool of `npm run ops`, by its name. */
export const tools: Readonly<Record<string, Tool>> = {
  registry,
  deliveries,
  'dead-letters': deadLetters,
  audit,
  catalogue,
  migrate: migrateDatabase,
  secrets,
  access,
};
