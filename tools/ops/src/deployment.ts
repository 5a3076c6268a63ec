import { readFileSync } from 'node:fs';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Argument, Option } from '@clinical-launch/process/command-line';
import { requireParts } from '@clinical-launch/process/parts';
import { parseAllDocuments } from 'yaml';
import { writeAccess } from './access.ts';
import { checkReferences, type KubernetesObject } from './check-references.ts';
import type { Group, ToolCommand } from './command.ts';
import { writeKubernetesSecrets } from './kubernetes-secrets.ts';
import { makeSecrets, type ServerHosts } from './make-secrets.ts';
import { amqpNamespace, databaseUrl, optional, redisPrefix, required, secretsDirectory } from './settings.ts';

/** A value of a manifest that the operator must replace. */
type Placeholder = {
  readonly object: string;
  /** The path of the value in the object, such as `spec.rules[0].host`. */
  readonly path: string;
  readonly value: string;
};

/**
 * Matches the values of k8s/ that are marked CHANGE: names reserved for examples (RFC 2606), and networks
 * reserved for documentation (RFC 5737). Also matches digests of zeros, the realm and the stores called
 * `example`, and images without a registry.
 */
const placeholder =
  /\bexample\.(?:org|com|net)\b|\.example\b|\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d|@sha256:0{64}|^example(?:\/|$)|^clinical-launch(?:-[a-z]+)?(?:[:@]|$)/;

/** Matches the paths of names and labels of our own objects, whose values look like images. */
const ownNames =
  /^(?:metadata|.*(?<!\.secretStoreRef)\.(?:name|namespace|labels|matchLabels)(?:\.|$))|\.app\.kubernetes\.io\//;

/**
 * Finds the placeholders in rendered manifests, and the Secrets and ConfigMaps that the manifests reference
 * but do not contain. Ignores comments, even in the files of a ConfigMap. `isClosed` is true if the manifests
 * contain the edge, but nobody outside the namespace can reach it.
 * @throws Error if the text is not YAML
 */
export function checkDeployment(text: string): {
  objects: number;
  isClosed: boolean;
  placeholders: readonly Placeholder[];
} & ReturnType<typeof checkReferences> {
  const documents = parseAllDocuments(text);
  const objects = ('empty' in documents ? [] : documents).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as KubernetesObject;
  });
  const placeholders = objects.flatMap((object) =>
    textsOf(object, '')
      .filter(({ path }) => !ownNames.test(path))
      .flatMap(({ path, value }) => {
        const line = value.split('\n').find((each) => !comment.test(each) && placeholder.test(each));
        const named = `${object.kind} ${object.metadata?.name}`;
        return line === undefined ? [] : [{ object: named, path, value: line.trim() }];
      }),
  );
  const hasEdge = objects.some(({ kind, metadata }) => kind === 'Deployment' && metadata?.name === 'edge');
  const isClosed = hasEdge && !objects.some(admitsOthers);
  return { objects: objects.length, isClosed, placeholders, ...checkReferences(objects) };
}

/** Returns true for the NetworkPolicy of an entry point, which admits callers to the edge or its firewall. */
const admitsOthers = ({ kind, spec: { podSelector, ingress = [] } = {} }: KubernetesObject) =>
  kind === 'NetworkPolicy' &&
  ['edge', 'waf'].includes(podSelector?.matchLabels?.['app.kubernetes.io/name'] ?? '') &&
  ingress.some(({ from = [{ ipBlock: {} }] }) =>
    from.some(({ namespaceSelector, ipBlock }) => (namespaceSelector ?? ipBlock) !== undefined),
  );

/** Matches a comment in a file of a ConfigMap. */
const comment = /^\s*#/;

function textsOf(value: unknown, path: string): readonly { path: string; value: string }[] {
  if (typeof value === 'string') return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsOf(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    textsOf(item, path === '' ? name : `${path}.${name}`),
  );
}

const directory: Argument = {
  name: 'directory',
  summary: 'The directory, which is created if it is missing',
};

const check: Option = {
  name: 'check',
  summary: 'Lists the pending migrations; exits with 1 if there are any',
};

/** `./clinical-launch migrate` */
export const migrateDatabase: ToolCommand = {
  details:
    'With SERVICE_SECRETS_DIR, also creates a PostgreSQL role for each service that can access only its own schema,\n' +
    'and sets its password. Safe to repeat. DATABASE_URL must be that of the owner of the database, with\n' +
    'CREATEROLE. With --check, changes nothing.',
  example: '--check',
  options: [check],
  settings: [databaseUrl, secretsDirectory],
  async run({ environment, options, progress }) {
    const url = required(environment, databaseUrl);
    // In production, refuses the password of the demo.
    requireParts(environment, ['DATABASE_URL']);
    // The schemas of all services are loaded only for this command.
    const { findPending, migrate } = await import('./migrate.ts');
    if (options.has(check.name)) {
      const pending = await findPending(url);
      const schemas = Object.entries(pending);
      return {
        lines: schemas.filter(([, names]) => names.length === 0).map(([schema]) => `${schema}: up to date`),
        result: { pending },
        problems: schemas.flatMap(([schema, names]) => names.map((name) => `${schema}: ${name} is pending`)),
      };
    }
    const report = await migrate(url, { credentials: optional(environment, secretsDirectory), progress });
    const lines = [
      ...report.schemas.map((schema) => `${schema}: up to date`),
      ...report.roles.map((role) => `${role}: ready`),
    ];
    return { lines, result: report };
  },
};

const kubernetes: Option = {
  name: 'kubernetes',
  summary: 'Also writes a kustomization with the Secrets of the production overlay, and ExternalSecrets',
};

/** A host with its port. Redis may have several, and the name of the primary that Sentinels know. */
const hostForm = /^[\w.-]+:\d{1,5}$/;
const redisForm = /^[\w.-]+:\d{1,5}(?:\?sentinel=[\w-]+)?(?:,[\w.-]+:\d{1,5})*$/;
const hostOption = (server: keyof ServerHosts, summary: string, form = hostForm): Option => ({
  name: `${server}-host`,
  value: 'host:port',
  summary: `${summary}, over TLS. Default: that of the Compose file`,
  isOptional: true,
  isUnasked: true,
  faultOf: (value) => (form.test(value) ? undefined : 'must be host:port, without a scheme'),
});
const hostOptions = {
  redis: hostOption(
    'redis',
    'Redis, its cluster (a:6379,b:6379) or Sentinels (a:26379?sentinel=NAME,b:26379)',
    redisForm,
  ),
  amqp: hostOption('amqp', 'RabbitMQ'),
  postgres: hostOption('postgres', 'PostgreSQL'),
};

/** `./clinical-launch secrets` */
export const secrets: ToolCommand = {
  details:
    'Creates sealing keys, event keys, and a user and password for each service on each server. Existing files are\n' +
    'kept, so this also adds the files that a new version needs.',
  example: './secrets',
  arguments: [directory],
  options: [kubernetes, ...Object.values(hostOptions)],
  async run({ arguments: [target = ''], options }) {
    const hostOf = ({ name }: Option) => options.get(name)?.[0];
    const { redis, amqp, postgres } = hostOptions;
    const hosts = { redis: hostOf(redis), amqp: hostOf(amqp), postgres: hostOf(postgres) };
    const made = makeSecrets(target, withoutUndefined(hosts));
    const files = [...made, ...(options.has(kubernetes.name) ? writeKubernetesSecrets(target) : [])];
    return { lines: [`${files.length} files written, in ${target}`], result: { files } };
  },
};

/** `./clinical-launch access` */
export const access: ToolCommand = {
  details:
    'They contain a user for each service with only the rights that it needs, the exchanges and queues of the\n' +
    'services, and hashes of the passwords. Safe to repeat. Both servers read the files at their start.\n' +
    'If SERVICE_SECRETS_DIR has operator/amqp-url, that user may list and replay dead letters.',
  example: './access',
  arguments: [directory],
  settings: [secretsDirectory, redisPrefix, amqpNamespace],
  async run({ arguments: [target = ''], environment }) {
    const prefix = optional(environment, redisPrefix);
    const namespace = optional(environment, amqpNamespace);
    const report = writeAccess({
      directory: target,
      secrets: required(environment, secretsDirectory),
      ...withoutUndefined({ prefix, namespace }),
    });
    return { lines: report.files.map((file) => `${file}: written`), result: report };
  },
};

/** `./clinical-launch deploy` */
export const deploy: Group = {
  commands: {
    check: {
      summary:
        'Lists the placeholders, the missing Secrets and ConfigMaps, and a missing entry point of rendered manifests; exits with 1 if there are any.',
      details:
        'Render the overlay first: kubectl kustomize <your overlay> > rendered.yaml\n' +
        'Also lists how to create the Secrets that must exist before you apply the manifests.',
      example: 'rendered.yaml',
      arguments: [{ name: 'file', summary: 'The rendered manifests' }],
      async run({ arguments: [file = ''] }) {
        const result = checkDeployment(readFileSync(file, 'utf8'));
        const { objects, isClosed, placeholders, documented, missing } = result;
        const commands = Map.groupBy(documented, ({ command }) => command);
        return {
          lines: [
            `${objects} objects, ${placeholders.length} placeholders`,
            ...[...commands].map(
              ([command, needed]) => `${needed.map(({ source }) => source).join(', ')}: ${command}`,
            ),
          ],
          result,
          problems: [
            ...(isClosed
              ? ['No entry point: the edge admits nobody. Uncomment load-balancer, gateway-api or ingress.']
              : []),
            ...placeholders.map(({ object, path, value }) => `${object}: ${path} is ${value}`),
            ...missing.map(({ object, source, keys, command }) => {
              const named = keys.length > 0 ? ` with the key ${keys.join(', ')}` : '';
              return `${object}: ${source}${named} is missing: ${command}`;
            }),
          ],
        };
      },
    },
  },
};
