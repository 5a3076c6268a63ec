/*
 * Builds the folder that `npm pack` turns into one package, which contains the twin and everything that it
 * needs, so that a vendor installs it offline. The packages of this repository are compiled, because Node
 * does not strip types in files below node_modules.
 *
 * Usage: `node build.ts [<directory>]` (default `./dist`), then `npm pack <directory>`
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '../..');
const target = resolve(process.argv[2] ?? join(here, 'dist'));

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
};

/** Returns true for a file that no process loads: types, sources, tests, documents, database extensions. */
const isUnused = (path: string) =>
  /\.(?:map|[cm]?ts|scss|zip|ps)$|\/(?:tests?|examples?|docs|fixtures\.json|\.[a-z]+rc)$/.test(path) ||
  /(?<!licen[cs]e|notice)\.md$|\/pglite\/dist\/\w+\.tar\.gz$/i.test(path);

// Deletes the last build, because a source file may have been deleted since then.
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { own, others } = listPackages();
for (const [from, to] of others)
  cpSync(from, to, {
    recursive: true,
    filter: (path) => !isUnused(path) && !path.slice(from.length).includes('node_modules'),
  });
compile();
const { version } = readManifest(root);
for (const [from, to] of own) writeOwn(from, to);
writeTwin();

/**
 * Lists the packages that run in production. Returns the folder of each package and its folder in the build,
 * separately for the packages of this repository and for all others.
 */
function listPackages() {
  const options = ['--omit=dev', '--all', '--parseable', '--workspace', '@clinical-launch/twin'];
  const listed = run('npm', ['ls', ...options])
    .trim()
    .split('\n')
    .slice(1);
  const isOwn = (path: string) => !realpathSync(path).includes('node_modules');
  const placeOf = (name: string) =>
    name === '@clinical-launch/twin' ? target : join(target, 'node_modules', name);
  const own = new Map(
    listed.filter(isOwn).map((path) => [realpathSync(path), placeOf(readManifest(path).name)] as const),
  );
  // Each package keeps its place in node_modules: in that of the root, of a package of this repository, or of
  // another package.
  const others = new Map(
    listed
      .filter((path) => !isOwn(path))
      .map((path) => {
        const [holder = '', to = target] = [...own].find(([from]) => path.startsWith(`${from}/`)) ?? [root];
        return [path, join(to, relative(holder, path))] as const;
      }),
  );
  return { own, others };
}

function compile(): void {
  const compiled = join(target, 'compiled');
  run(join(root, 'node_modules/.bin/tsc'), ['-p', join(here, 'tsconfig.build.json'), '--outDir', compiled]);
  for (const [from, to] of own) {
    cpSync(join(compiled, relative(root, from)), to, { recursive: true });
    // The twin does not start the processes of the services.
    if (from !== here) rmSync(join(to, 'src/main.js'), { force: true });
  }
  rmSync(compiled, { recursive: true });
}

/** Writes the other files of a package of this repository: templates, styles, SQL, Lua, and its manifest. */
function writeOwn(from: string, to: string): void {
  const names = globSync('{src,public,pages,catalogue}/**/*.*', { cwd: from }).filter(
    (name) => !name.endsWith('.ts'),
  );
  for (const name of [...names, ...globSync('registry.json', { cwd: from })]) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    copyFileSync(join(from, name), join(to, name));
  }
  const { name, dependencies = {}, exports = {} } = readManifest(from);
  const compiled = Object.entries(exports).map(([path, file]) => [path, file.replace(/\.ts$/, '.js')]);
  writeJson(join(to, 'package.json'), {
    name,
    version,
    type: 'module',
    exports: Object.fromEntries(compiled),
    dependencies,
  });
}

/**
 * Completes the package of the twin. Copies the embedded database into its package, and corrects the paths of
 * the files that packages read from the root of the repository.
 */
function writeTwin(): void {
  const { name, description, license, type, engines, dependencies = {} } = readManifest(here);
  writeJson(join(target, 'package.json'), {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin: { 'clinical-launch-twin': 'src/main.js' },
    dependencies,
    bundleDependencies: Object.keys(dependencies),
  });
  copyFileSync(join(here, 'README.md'), join(target, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  const storage = join(target, 'node_modules/@clinical-launch/storage');
  copyFileSync(join(root, '.cache/pglite.tar.gz'), join(storage, 'pglite.tar.gz'));
  for (const folder of own.values())
    for (const name of globSync('src/**/*.js', { cwd: folder })) {
      const text = readFileSync(join(folder, name), 'utf8');
      const moved = text.replace(
        /(new URL\(')(?:\.\.\/){3}(?:\.cache\/)?(package\.json|pglite\.tar\.gz)'/g,
        "$1../$2'",
      );
      if (/new URL\('(?:\.\.\/){3}/.test(moved)) throw new Error(`${name} reads a file outside its package`);
      if (moved !== text) writeFileSync(join(folder, name), moved);
    }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed:\n${stdout}${stderr}`);
  return stdout;
}
