import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Container, type Manifest, ofKind, type Workload, workloadsOf } from './objects.ts';
import { root } from './render.ts';

/** The variables that a container has, with their values where the manifests have them. */
export function variablesOf(
  { env = [], envFrom = [] }: Container,
  objects: readonly Manifest[],
): ReadonlyMap<string, string | undefined> {
  const maps = new Map(ofKind(objects, 'ConfigMap').map(({ name, data }) => [name, data]));
  return new Map([
    ...envFrom.flatMap(({ configMapRef }) => Object.entries(maps.get(configMapRef?.name ?? '') ?? {})),
    ...env.map(
      ({ name, value, valueFrom: { configMapKeyRef: ref } = {} }) =>
        [name, value ?? maps.get(ref?.name ?? '')?.[ref?.key ?? '']] as const,
    ),
  ]);
}

/** Returns the processes of this repository: those that a command of Node starts, by their entry. */
const processesOf = (objects: readonly Manifest[]) =>
  workloadsOf(objects).flatMap((workload: Workload) =>
    workload.pod.containers.flatMap((container) => {
      const entry = container.command?.find((word) => word.endsWith('/src/main.ts'));
      return entry === undefined ? [] : [{ name: workload.name, entry, container }];
    }),
  );

/** Every variable that is set is one that the process reads. */
export const unreadFaults = (objects: readonly Manifest[]): readonly string[] =>
  processesOf(objects).flatMap(({ name, entry, container }) => {
    const read = readBy(entry);
    return [...variablesOf(container, objects).keys()]
      .filter((variable) => !read.has(variable) && !read.has(variable.replace(/_FILE$/, '')))
      .map((variable) => `${name} has ${variable}, which it does not read`);
  });

/** Every variable that a process requires in production is set, as a value or as a file. */
export const unsetFaults = (objects: readonly Manifest[]): readonly string[] =>
  processesOf(objects)
    .filter(({ entry }) => entry.startsWith('services/'))
    .flatMap(({ name, entry, container }) => {
      const variables = variablesOf(container, objects);
      const isSet = (variable: string) =>
        Boolean(variables.get(variable)) || variables.has(`${variable}_FILE`);
      return requiredBy(entry)
        .filter((variable) => !isSet(variable))
        .map((variable) => `${name} requires ${variable}`);
    });

const required = new Map<string, readonly string[]>();

/**
 * Returns the variables that a process requires, as it names them itself: first without any, then with
 * addresses, since it reads some settings only if those before them are right.
 */
function requiredBy(entry: string): readonly string[] {
  const known = required.get(entry);
  if (known !== undefined) return known;
  const address = 'https://launch.example';
  const names = [
    {},
    { PUBLIC_URL: address, IDENTITY_PROVIDER_URL: address, REGISTRY_FILE: '/nowhere' },
  ].flatMap((settings) => complaintsOf(entry, settings));
  const unique = [...new Set(names)];
  required.set(entry, unique);
  return unique;
}

function complaintsOf(entry: string, settings: Readonly<Record<string, string>>): string[] {
  const { NODE_COMPILE_CACHE } = process.env;
  const { stderr, stdout, status } = spawnSync(process.execPath, [entry], {
    cwd: root,
    env: { NODE_ENV: 'production', NODE_COMPILE_CACHE, ...settings },
    encoding: 'utf8',
  });
  if (status !== 1) throw new Error(`${entry} started without its settings:\n${stdout}${stderr}`);
  return [...`${stdout}${stderr}`.matchAll(/^ {2}([A-Z][A-Z_]+)/gm)].map(([, name = '']) => name);
}

const texts = new Map(
  globSync(['libs/*/src/**/*.ts', 'services/*/src/**/*.ts', 'deploy/{ops,simulators}/src/**/*.ts'], {
    cwd: root,
  }).map((path) => [path, readFileSync(join(root, path), 'utf8')] as const),
);
const exported = new Map(
  [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
      ([, name = '']) => [name, path] as const,
    ),
  ),
);

/**
 * Returns the words in the sources of a process that may be variables: of its own package, and of the modules
 * of libraries from which it imports something, with what these import.
 */
function readBy(entry: string): ReadonlySet<string> {
  const own = [...texts.keys()].filter((path) => path.startsWith(`${dirname(entry)}/`));
  const modules = new Set(own);
  for (const path of modules) for (const next of importsOf(path)) modules.add(next);
  const words = [...modules].flatMap(
    (path) => (texts.get(path) ?? '').match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g) ?? [],
  );
  const isService = entry.startsWith('services/');
  // Libraries know all parts and keys: which of them a service has, it says when they are missing.
  const perService = /^(SEALING_KEYS_|EVENT_VERIFICATION_KEYS$|(REDIS|AMQP|DATABASE)_URL$)/;
  const known = isService ? [...words.filter((word) => !perService.test(word)), ...requiredBy(entry)] : words;
  // Node itself and the SDK of OpenTelemetry read these.
  const byOthers = ['NODE_EXTRA_CA_CERTS', 'OTEL_RESOURCE_ATTRIBUTES', 'OTEL_BSP_SCHEDULE_DELAY'];
  return new Set([...known, ...byOthers]);
}

function importsOf(path: string): string[] {
  const text = texts.get(path) ?? '';
  return [...text.matchAll(/^(?:import|export) (?!type\b)([^;]*?) from '([^']+)'/gm)].flatMap(
    ([, names = '', from = '']) => {
      if (from.startsWith('.'))
        return [normalize(join(dirname(path), from))].filter((next) => texts.has(next));
      if (!from.startsWith('@clinical-launch/')) return [];
      return [...names.matchAll(/\b(?!type\b)(\w+)/g)].flatMap(([, name = '']) => exported.get(name) ?? []);
    },
  );
}
