import { readFileSync } from 'node:fs';
import { writeAccess } from './access.ts';
import { UsageError } from './credentials.ts';
import { makeSecrets } from './make-secrets.ts';
import { migrate } from './migrate.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a tool prints: text for a person, or the result as JSON with `--json`. */
export type Answer = { readonly text: string; readonly result: unknown };

export type Tool = {
  readonly usage: string;
  /** @throws UsageError for arguments or settings that cannot be used. */
  run(args: readonly string[], environment: Environment): Promise<Answer>;
};

/** Every tool of `npm run ops`, by its name. */
export const tools: Readonly<Record<string, Tool>> = {
  migrate: {
    usage: `Usage: npm run ops -- migrate [--json]

  Applies the pending migrations of every service. With SERVICE_SECRETS_DIR, also creates a PostgreSQL role for each
  service that reaches its own schema only, and sets its password. Safe to repeat.

  DATABASE_URL         the database as its owner, who has CREATEROLE; or DATABASE_URL_FILE
  SERVICE_SECRETS_DIR  directory with <service>/database-url, the address that the service itself uses`,
    async run(args, environment) {
      if (args.length > 0) throw new UsageError(`migrate has no argument ${args[0]}`);
      const report = await migrate(secretOf(environment, 'DATABASE_URL'), environment['SERVICE_SECRETS_DIR']);
      const lines = [
        ...report.schemas.map((schema) => `${schema}: up to date`),
        ...report.roles.map((role) => `${role}: ready`),
      ];
      return { text: lines.join('\n'), result: report };
    },
  },
  secrets: {
    usage: `Usage: npm run ops -- secrets <directory> [--json]

  Makes the secrets of a deployment by docker-compose.yml: sealing keys, keys of events, and a user and password of each
  service for each part. Files that are there stay as they are, so this also adds what a new version needs.`,
    async run([directory, ...more]) {
      if (directory === undefined || more.length > 0) throw new UsageError('secrets needs one directory');
      const files = makeSecrets(directory);
      return { text: `${files.length} files written, in ${directory}`, result: { files } };
    },
  },
  access: {
    usage: `Usage: npm run ops -- access <directory> [--json]

  Writes two files into the directory: users.acl for Redis (aclfile) and definitions.json for RabbitMQ (load_definitions),
  with a user for each service that may do what the service does and no more, and what the services publish to and
  consume from. They hold hashes of the passwords. Safe to repeat; both servers read the files when they start.

  SERVICE_SECRETS_DIR  directory with <service>/redis-url and <service>/amqp-url, the addresses that the service itself uses;
                       operator/amqp-url, if it is there, becomes a user that lists and replays dead letters
  REDIS_PREFIX         the prefix of the keys, when it is not the usual one
  AMQP_NAMESPACE       the prefix of exchanges and queues, when it is not the usual one`,
    async run([directory, ...more], environment) {
      if (directory === undefined || more.length > 0) throw new UsageError('access needs one directory');
      const { REDIS_PREFIX: prefix, AMQP_NAMESPACE: namespace, SERVICE_SECRETS_DIR: secrets } = environment;
      if (!secrets) throw new UsageError('SERVICE_SECRETS_DIR is not set');
      const report = writeAccess({
        directory,
        secrets,
        ...(prefix ? { prefix } : {}),
        ...(namespace ? { namespace } : {}),
      });
      return { text: report.files.map((file) => `${file}: written`).join('\n'), result: report };
    },
  },
};

function secretOf(environment: Environment, name: string): string {
  const value = environment[name];
  if (value !== undefined && value !== '') return value;
  const path = environment[`${name}_FILE`];
  if (path === undefined || path === '') throw new UsageError(`${name} is not set`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new UsageError(`${name}_FILE cannot be read`, { cause });
  }
}
