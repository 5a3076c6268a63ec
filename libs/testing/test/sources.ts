import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const root = new URL('../../../', import.meta.url).pathname;
export const services = globSync('services/*', { cwd: root }).map((path) => path.slice('services/'.length));
/** The folders of the platform's packages. */
export const packages = globSync(['libs/*', 'services/*', 'sandbox/*', 'tools/{ops,platform}'], {
  cwd: root,
}).toSorted();
/** The sources of these packages, as paths relative to the root. */
export const sources = new Set(packages.flatMap((name) => globSync(`${name}/src/**/*.ts`, { cwd: root })));

const folders = new Map(packages.map((path) => [manifestOf(path).name, path] as const));

type Manifest = { readonly name: string; readonly dependencies?: Readonly<Record<string, string>> };

/** Returns the `package.json` of a folder of `packages`. */
export function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(`${root}${path}/package.json`, 'utf8'));
}

const dynamicImport = /\bimport\('([^']+)'\)/g;
const staticImport = /^(?:import|export)( type)?\b[^;'(]*?\bfrom '([^']+)'|^import '([^']+)'/gm;

/**
 * Returns the imports of a source, including dynamic imports and, unless `withTypes` is false, type imports.
 */
export function specifiersOf(path: string, { withTypes = true } = {}): string[] {
  const dynamic = [...textOf(path).matchAll(dynamicImport)].map(([, specifier]) => specifier ?? '');
  return [...staticSpecifiersOf(path, { withTypes }), ...dynamic];
}

/** Returns the imports that a source loads with itself and, unless `withTypes` is false, its type imports. */
export function staticSpecifiersOf(path: string, { withTypes }: { readonly withTypes: boolean }): string[] {
  return [...textOf(path).matchAll(staticImport)]
    .filter(([, type]) => withTypes || type === undefined)
    .map(([, , from, alone]) => from ?? alone ?? '');
}

const textOf = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/**
 * Returns the path, relative to the root, of the source that an import resolves to; undefined for an external
 * package.
 */
function resolve(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier));
  const folder = folders.get(packageNameOf(specifier));
  if (folder === undefined) return undefined;
  // Follows the `exports` of the platform's packages. Only the SDK has an index.
  return `${folder}/src/${specifier.split('/').slice(2).join('/') || 'index'}.ts`;
}

/** Returns the sources of the platform that a source imports. */
function importsOf(path: string): string[] {
  return specifiersOf(path).flatMap((specifier) => resolve(specifier, path) ?? []);
}

/**
 * Returns the external packages and Node modules that a source loads statically, also through other sources,
 * and these sources.
 */
export function loadedWith(path: string): { packages: Set<string>; sources: Set<string> } {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (source: string): void => {
    if (seen.has(source)) return;
    seen.add(source);
    for (const specifier of staticSpecifiersOf(source, { withTypes: false })) {
      const own = resolve(specifier, source);
      if (own?.endsWith('.ts')) visit(own);
      else if (own === undefined) packages.add(packageNameOf(specifier));
    }
  };
  visit(path);
  return { packages, sources: seen };
}

/** Returns the package of an import: `pg` for `pg/lib/pool`. Returns Node modules unchanged. */
export const packageNameOf = (specifier: string) =>
  specifier.startsWith('node:')
    ? specifier
    : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** The sources that each source imports, including type imports. */
export const imports = new Map([...sources].map((path) => [path, importsOf(path)]));
export const packageOf = (path: string) => path.split('/').slice(0, 2).join('/');
/**
 * Returns the folder of a source: `http` for `services/ordering/src/http/visit.ts`, and undefined for a
 * source directly in `src`.
 */
export const roomOf = (path: string) => /^[^/]+\/[^/]+\/src\/([^/]+)\//.exec(path)?.[1];
