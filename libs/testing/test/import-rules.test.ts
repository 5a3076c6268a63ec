import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import jest from '../../../tests/jest.config.js';
import {
  imports,
  manifestOf,
  packageNameOf,
  packageOf,
  packages,
  roomOf,
  root,
  services,
  sources,
  specifiersOf,
  staticSpecifiersOf,
} from './sources.ts';

describe('the imports between packages', () => {
  const ground = ['contracts', 'crypto', 'runtime'];
  const shared = [...ground, 'http', 'redis'];
  const libs = [
    ...shared,
    'tickets',
    'events',
    'storage',
    'limits',
    'pages',
    'trust',
    'deliveries',
    'process',
  ];
  /** The packages that each package may import. Packages that are not listed may import none. */
  const mayImport: Readonly<Record<string, readonly string[]>> = {
    'libs/contracts': [],
    'libs/crypto': ['contracts'],
    'libs/runtime': ['contracts'],
    'libs/http': ['contracts', 'runtime'],
    'libs/storage': ['contracts', 'runtime'],
    'libs/events': ground,
    'libs/redis': ground,
    'libs/tickets': ['contracts', 'crypto', 'redis'],
    'libs/limits': shared,
    'libs/trust': shared,
    'libs/pages': ['contracts', 'http', 'tickets'],
    'libs/deliveries': ['contracts', 'http', 'runtime', 'storage'],
    'libs/process': libs,
    'libs/pms-client': [],
    'libs/testing': [...libs, 'pms-client'],
    'sandbox/conformance': [...ground, 'http'],
    'sandbox/portal': [...libs, 'conformance'],
    'sandbox/simulators': [...ground, 'http', 'conformance', 'pages', 'process', 'trust', 'pms-client'],
    'tools/platform': [...libs, ...services],
    'tools/ops': [...libs, 'platform', 'pms-client', ...services],
    'sandbox/twin': [
      ...shared,
      'conformance',
      'pages',
      'process',
      'trust',
      'platform',
      'portal',
      'simulators',
    ],
  };

  /** The only source through which a package reaches the sandbox. It uses `import()`. */
  const doors: Readonly<Record<string, readonly string[]>> = {
    'tools/platform/src/sandbox.ts': ['portal', 'simulators'],
    'tools/ops/src/conformance/conformance.ts': ['conformance'],
  };

  it.each(packages)('follow the rules in %s', (name) => {
    const allowed = mayImport[name] ?? (name.startsWith('services/') ? libs : []);
    const own = [...sources].filter((path) => packageOf(path) === name);
    expect(own).not.toEqual([]);
    const forbidden = own.flatMap((path) =>
      specifiersOf(path)
        .filter((specifier) => {
          const [, ours] = /^@clinical-launch\/([^/]+)/.exec(specifier) ?? [];
          if (ours !== undefined) return ![...allowed, ...(doors[path] ?? [])].includes(ours);
          return specifier.startsWith('.') && packageOf(normalize(join(dirname(path), specifier))) !== name;
        })
        .map((specifier) => `${path}: ${specifier}`),
    );
    expect(forbidden).toEqual([]);
  });

  it.each(Object.entries(doors))('reach the sandbox from %s only when it is needed', (path, reached) => {
    const isReached = (specifier: string) =>
      reached.some((name) => specifier.startsWith(`@clinical-launch/${name}/`));
    expect(staticSpecifiersOf(path, { withTypes: false }).filter(isReached)).toEqual([]);
    expect(specifiersOf(path).some(isReached)).toBe(true);
  });

  it('lead from no library or service, nor from their tests, to the sandbox or the tools', () => {
    const outside = packages
      .filter((name) => /^(sandbox|tools)\//.test(name))
      .map((name) => manifestOf(name).name);
    const forbidden = globSync('{libs,services}/*/{src,test}/**/*.ts', { cwd: root }).flatMap((path) =>
      specifiersOf(path)
        .filter((specifier) =>
          specifier.startsWith('.')
            ? /^(sandbox|tools)\//.test(normalize(join(dirname(path), specifier)))
            : outside.includes(packageNameOf(specifier)),
        )
        .map((specifier) => `${path}: ${specifier}`),
    );
    expect(forbidden).toEqual([]);
    expect(outside).toContain('@clinical-launch/portal');
  });

  // Knip only finds packages that no package.json lists. This test also finds sources that load a development
  // dependency, which is missing in production.
  it.each(packages.filter((name) => name !== 'libs/testing'))(
    'load only packages that `dependencies` lists, in %s',
    (name) => {
      const { name: ownName, dependencies = {} } = manifestOf(name);
      const missing = [...sources]
        .filter((path) => packageOf(path) === name)
        .flatMap((path) => specifiersOf(path, { withTypes: false }).map(packageNameOf))
        .filter(
          (loaded) =>
            !/^(node:|\.)/.test(loaded) && loaded !== ownName && !Object.hasOwn(dependencies, loaded),
        );
      expect([...new Set(missing)]).toEqual([]);
    },
  );

  it('contain no cycle, including type imports', () => {
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (path: string, way: readonly string[]): void => {
      if (state.get(path) === 'open') circles.push([...way.slice(way.indexOf(path)), path].join(' -> '));
      if (state.has(path)) return;
      state.set(path, 'open');
      for (const next of imports.get(path) ?? []) visit(next, [...way, path]);
      state.set(path, 'done');
    };
    for (const path of sources) visit(path, []);
    expect(circles).toEqual([]);
  });

  it('never lead from the top-level, events and order files of contracts to its fhir folder', () => {
    const upward = [...imports].filter(
      ([path, imported]) =>
        /^libs\/contracts\/src\/([^/]+|(events|order)\/[^/]+)\.ts$/.test(path) &&
        imported.some((other) => roomOf(other) === 'fhir'),
    );
    expect(upward.map(([path]) => path)).toEqual([]);
  });
});

type Rooms = Readonly<Record<string, readonly string[]>>;

/**
 * The folders that each folder of a service may import from. Sources outside these folders may import from
 * all of them.
 */
const roomsInServices: Rooms = {
  openapi: ['http', 'grants', 'present', 'domain'],
  http: ['work', 'grants', 'present', 'views', 'keys', 'domain', 'store'],
  consumers: ['work', 'domain', 'store'],
  delivery: ['work', 'keys', 'domain', 'store'],
  grants: ['keys', 'domain', 'store'],
  work: ['domain', 'store'],
  present: ['domain'],
  views: ['domain', 'store'],
  keys: ['domain', 'store'],
  store: ['domain'],
  domain: [],
};
const ownOrBoundary = /^(express|kysely|pg)$|^@clinical-launch\/(?!(contracts|crypto)\/)/;
/** The packages that each folder must not import. Type imports are allowed, because Node removes them. */
const packagesOfRooms: Readonly<Record<string, RegExp>> = {
  domain: ownOrBoundary,
  present: ownOrBoundary,
  work: /^(express|kysely|pg)$|^@clinical-launch\/(http|limits|pages|process|trust)\//,
  store: /^express$|^@clinical-launch\/(http|limits|pages|process|trust)\//,
};

describe.each(services.map((name) => `services/${name}`))('the folders of %s', (name) => {
  const own = [...sources].filter((path) => packageOf(path) === name && roomOf(path) !== undefined);

  it('have known names', () => {
    expect(own.filter((path) => roomsInServices[roomOf(path) ?? ''] === undefined)).toEqual([]);
  });

  it('import only from the folders that `roomsInServices` allows', () => {
    const forbidden = own.flatMap((path) => {
      const room = roomOf(path) ?? '';
      return (imports.get(path) ?? [])
        .filter((other) => packageOf(other) === name)
        .filter((other) => {
          const there = roomOf(other);
          return there !== undefined && there !== room && !roomsInServices[room]?.includes(there);
        })
        .map((other) => `${path}: ${other}`);
    });
    expect(forbidden).toEqual([]);
  });

  it('do not import the store into `http`, except for types', () => {
    const direct = own
      .filter((path) => roomOf(path) === 'http')
      .flatMap((path) =>
        specifiersOf(path, { withTypes: false })
          .filter((specifier) => /^(\.\.\/)+store\//.test(specifier))
          .map((specifier) => `${path}: ${specifier}`),
      );
    expect(direct).toEqual([]);
  });

  it('import no forbidden packages', () => {
    const forbidden = own.flatMap((path) =>
      specifiersOf(path, { withTypes: false })
        .filter((specifier) => packagesOfRooms[roomOf(path) ?? '']?.test(specifier) === true)
        .map((specifier) => `${path}: ${specifier}`),
    );
    expect(forbidden).toEqual([]);
  });
});

const textOf = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const { workspaces } = JSON.parse(textOf('package.json'));
const biome = JSON.parse(textOf('biome.json'));
const oxlint = JSON.parse(textOf('.oxlintrc.json'));
const knip = JSON.parse(textOf('knip.json'));
const linesOf = (path: string) =>
  textOf(path)
    .split('\n')
    .filter((line) => /^[^#\s]/.test(line));

/** The patterns by which each configuration names files of the repository. */
const patterns: Readonly<Record<string, readonly string[]>> = {
  'package.json': workspaces,
  'tsconfig.json': JSON.parse(textOf('tsconfig.json')).include,
  'sandbox/twin/tsconfig.build.json': JSON.parse(textOf('sandbox/twin/tsconfig.build.json')).include,
  'biome.json': biome.files.includes.map((pattern: string) => pattern.replace('!', '')),
  '.oxlintrc.json': [oxlint, ...oxlint.overrides].flatMap(({ files = [], ignorePatterns = [] }) =>
    [...files, ...ignorePatterns].flatMap(alternativesOf),
  ),
  'knip.json': Object.entries<{ entry?: string | string[] }>(knip.workspaces).flatMap(
    ([folder, { entry = [] }]) =>
      [`${folder}/package.json`, ...[entry].flat().map((pattern) => `${folder}/${pattern}`)].flatMap(
        alternativesOf,
      ),
  ),
  '.dockerignore': linesOf('.dockerignore').flatMap((line) => (line.startsWith('!') ? line.slice(1) : [])),
  '.gitattributes': linesOf('.gitattributes').map((line) =>
    line.replace(/ .*/, '').replace(/^\*\./, '**/*.'),
  ),
  'tests/jest.config.js': jest.projects.flatMap(({ roots }: { readonly roots: readonly string[] }) =>
    roots.map((path) => path.replace('<rootDir>/', '')),
  ),
};

/** Returns the patterns that a pattern with braces stands for. */
function alternativesOf(pattern: string): string[] {
  const [braces, inner = ''] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined) return [pattern];
  return inner.split(',').flatMap((one) => alternativesOf(pattern.replace(braces, one)));
}

describe('the patterns of files', () => {
  it.each(Object.entries(patterns))('in %s each match a file', (path, ofFile) => {
    const from = join(root, dirname(path).replace('tests', ''));
    const unused = ofFile.filter(
      // TypeScript reads braces as they are.
      (pattern) =>
        (path.includes('tsconfig') && pattern.includes('{')) ||
        globSync(pattern, { cwd: from, exclude: (name) => name === 'node_modules' }).length === 0,
    );
    expect(unused).toEqual([]);
    expect(ofFile).not.toEqual([]);
  });

  it('exist for each address that a module derives from its own', () => {
    const modules = globSync('{libs,sandbox,services,tests,tools}/**/*.ts', {
      cwd: root,
      exclude: (name) => name === 'node_modules',
    });
    const missing = modules.flatMap((path) =>
      [...textOf(path).matchAll(/new URL\('([^':]+)', import\.meta\.url/g)]
        .filter(([, address = '']) => !existsSync(join(root, dirname(path), address)))
        .map(([, address]) => `${path}: ${address}`),
    );
    expect(missing).toEqual([]);
  });
});
