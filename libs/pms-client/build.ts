/*
 * Builds the package that a vendor installs: JavaScript, type declarations, README, licence and package.json.
 * The sources cannot be published, because Node does not strip types in files below node_modules. The
 * monorepo itself imports the sources, so it needs no build.
 *
 * Usage: `node build.ts [<directory>]` (default `./dist`), then `npm pack <directory>`
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '../..');
const target = resolve(process.argv[2] ?? join(here, 'dist'));

// Deletes the last build, because a source file may have been deleted since then.
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

const { status, stdout } = spawnSync(
  join(root, 'node_modules/.bin/tsc'),
  ['-p', join(here, 'tsconfig.build.json'), '--outDir', target],
  { encoding: 'utf8' },
);
if (status !== 0) throw new Error(`The sources could not be compiled:\n${stdout}`);

// TypeScript rewrites import extensions only in JavaScript files. In declarations, TypeScript before 5.0
// cannot resolve `./pkce.ts`.
for (const name of globSync('*.d.ts', { cwd: target })) {
  const text = readFileSync(join(target, name), 'utf8');
  writeFileSync(join(target, name), text.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}

const {
  devDependencies: _devDependencies,
  private: _private,
  scripts: _scripts,
  ...manifest
}: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const published = {
  ...manifest,
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
  // Tools that do not read `exports` use `main` and `types`.
  main: './index.js',
  types: './index.d.ts',
  sideEffects: false,
  files: ['*.js', '*.d.ts'],
};
writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
copyFileSync(join(here, 'README.md'), join(target, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
