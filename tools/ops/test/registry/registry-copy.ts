import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { runOps } from '../../src/run.ts';

const demoRegistry = fileURLToPath(new URL('../../../../sandbox/simulators/registry.json', import.meta.url));
const command = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Runs the command in a separate process without a terminal, as an operator's script does. */
async function runCommand(path: string, args: readonly string[]) {
  const child = spawn(process.execPath, [command, 'registry', ...args, '--file', path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const read = async (stream: NodeJS.ReadableStream) => {
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return text;
  };
  const [code, output, errors] = await Promise.all([
    new Promise<number | null>((resolve) => child.once('close', resolve)),
    read(child.stdout),
    read(child.stderr),
  ]);
  return { code, output, errors, reported: reportedIn(output) };
}

const reportedIn = (output: string) =>
  new Map(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
  );

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command in this process, because starting a process takes half a second. */
async function runHere(path: string, args: readonly string[], environment: Environment = {}) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const terminal = { output, errors };
  const code = await runOps({
    args: ['registry', ...args, '--file', path],
    environment,
    terminal,
    now: Date.now(),
  });
  const said = String(output.read() ?? '');
  return { code, output: said, errors: String(errors.read() ?? ''), reported: reportedIn(said) };
}

/** Opens a copy of the demo's registry file in a new folder, with functions to run commands on it. */
export async function openRegistryCopy() {
  const folder = await mkdtemp(join(tmpdir(), 'onboarding-'));
  const path = join(folder, 'registry.json');
  const before = await readFile(demoRegistry, 'utf8');
  await writeFile(path, before);
  const text = () => readFile(path, 'utf8');
  const realmNamed = async (name: string) => {
    const { realms } = parseRegistry(
      JSON.parse((await text()).replaceAll('${PUBLIC_URL}', 'https://p.example')),
    );
    return realms.find(({ realm }) => realm === name);
  };
  return {
    folder,
    path,
    before,
    text,
    realmNamed,
    run: (...args: string[]) => runCommand(path, args),
    runHere: (...args: string[]) => runHere(path, args),
    runWith: (environment: Environment, ...args: string[]) => runHere(path, args, environment),
    clientNamed: async (realm: string, clientId: string) =>
      (await realmNamed(realm))?.clients.find((client) => client.clientId === clientId),
    changedLines: async () => changedLines(before, await text()),
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Returns the added lines, and whether all previous lines are unchanged. */
function changedLines(before: string, text: string) {
  const old = before.split('\n');
  const kept: string[] = [];
  const added = text.split('\n').filter((line) => {
    if (line !== old[kept.length] && `${old[kept.length]},` !== line) return true;
    kept.push(line);
    return false;
  });
  return { isKept: kept.length === old.length, added };
}
