import { spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packPackage, plainEnvironment, runProgram } from '@clinical-launch/testing/packed-package';

const here = new URL('../', import.meta.url).pathname;
const root = new URL('../../../', import.meta.url).pathname;
const bin = join(root, 'node_modules/.bin');

/** Builds and packs the package, and installs it offline into an empty project, as a vendor does. */
export async function installPackage() {
  const { folder, tarball, remove } = await packPackage(join(here, 'build.ts'));
  const project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const options = ['--offline', '--no-audit', '--ignore-scripts', '--silent'];
  await runProgram('npm', ['install', ...options, tarball], { cwd: project });
  return {
    /** Returns the package.json of the installed package. */
    manifest: async (): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse(
        await readFile(join(project, 'node_modules/@clinical-launch/pms-client/package.json'), 'utf8'),
      ),
    /** Compiles a program with strict checks. @throws Error with the errors of the compiler */
    compile: (source: string, settings: CompilerSettings = {}) => compile(project, source, settings),
    run: (node: string, file: string, environment: NodeJS.ProcessEnv) =>
      runProgram(node, [file], { cwd: project, environment }),
    /** Installs the types of Node, as most vendors do. */
    addNodeTypes: async () => {
      await mkdir(join(project, 'node_modules/@types'), { recursive: true });
      for (const name of ['@types/node', 'undici-types'])
        await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
    },
    remove,
  };
}

type CompilerSettings = { readonly lib?: readonly string[]; readonly types?: readonly string[] };

async function compile(
  project: string,
  source: string,
  { lib = ['es2022'], types = [] }: CompilerSettings,
): Promise<void> {
  const compilerOptions = {
    target: 'es2022',
    lib,
    types,
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  await writeFile(join(project, 'main.ts'), source);
  await runProgram(join(bin, 'tsc'), ['-p', 'tsconfig.json'], { cwd: project });
}

/** Returns the path of the Node that runs the tests, and of the oldest supported Node if it is installed. */
export async function supportedNodes(): Promise<string[]> {
  const others = (process.env['PATH'] ?? '').split(':').filter((path) => !path.includes('node_modules/.bin'));
  const versions = await Promise.all(
    others.map(async (path) => {
      const program = join(path, 'node');
      const version = await runProgram(program, ['--version'], { cwd: root }).catch(() => '');
      return version.startsWith('v20.') ? program : undefined;
    }),
  );
  const oldest = versions.find((program) => program !== undefined);
  return oldest === undefined ? [process.execPath] : [oldest, process.execPath];
}

/** Starts the platform with `npm start`, waits until it is ready, and returns its address. */
export async function startPlatform() {
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...plainEnvironment(), PORT: '0', ADMIN_PORT: '0' },
    // The platform is a child of npm, so `stop` signals the whole process group.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += String(chunk);
      const [, found] = /^ready (.*)$/m.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('close', () => reject(new Error(`The platform ended. Its output:\n${output}`)));
  });
  return {
    url,
    async stop() {
      const closed = new Promise((resolve) => child.once('close', resolve));
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await closed;
    },
  };
}
