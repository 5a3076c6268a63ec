import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from 'node:process';
import { fileURLToPath } from 'node:url';
import { pause } from '@clinical-launch/runtime/clock';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import type { Bench, Figure } from '../bench.ts';
import { keepAll, leaveFirstCore, startMeasured } from '../processes.ts';
import { writeRegistry } from '../registry.ts';

const goals: Readonly<Record<string, { readonly seconds: number; readonly mebibytes: number }>> = {
  'launch-api': { seconds: 0.5, mebibytes: 90 },
  'launch-gateway': { seconds: 0.5, mebibytes: 90 },
  'npm start': { seconds: 3, mebibytes: 350 },
  'packed twin': { seconds: 3, mebibytes: 350 },
};
const services = [
  'launch-api',
  'launch-gateway',
  'identity-provider',
  'ordering',
  'order-renderer',
  'audit-trail',
  'resource-api',
];
/** The milliseconds after `ready` in which a process releases the memory that only its start needed. */
const settledMs = 1500;
const counter = fileURLToPath(new URL('count-modules.ts', import.meta.url));

type Start = { readonly seconds: number; readonly mebibytes: number };

/**
 * Measures the time of each process from its start to `ready` with a filled compile cache, and its idle
 * memory.
 */
export const weight: Bench = {
  name: 'weight',
  async run({ short, progress }) {
    await leaveFirstCore();
    const { kept, stop } = keepAll();
    try {
      const environment = {
        REDIS_URL: (await kept(startRedis())).url,
        DATABASE_URL: (await kept(startPostgres())).url,
        // A missing broker does not delay a start.
        AMQP_URL: 'amqp://127.0.0.1:1',
        REGISTRY_FILE: (await kept(writeRegistry())).path,
        PUBLIC_URL: 'http://launch.example',
        IDENTITY_PROVIDER_URL: 'http://127.0.0.1:1',
        PLATFORM_URL: 'http://127.0.0.1:1',
        LOG_LEVEL: 'error',
      };
      progress('building the twin');
      execFileSync(process.execPath, [
        fileURLToPath(new URL('../../../sandbox/twin/build.ts', import.meta.url)),
      ]);
      const measured = short ? services.slice(0, 2) : services;
      const programs: [string, Program][] = [
        ...measured.map((name): [string, Program] => [
          name,
          { program: `services/${name}/src/main.ts`, environment },
        ]),
        ['npm start', { program: 'tools/platform/src/main.ts', environment: { LOG_LEVEL: 'error' } }],
        [
          'packed twin',
          { program: 'sandbox/twin/dist/src/main.js', environment: {}, arguments: ['--port', '0'] },
        ],
      ];
      const figures: Figure[] = [];
      for (const [name, program] of programs) {
        progress(name);
        figures.push(...(await figuresOf(name, program, short ? 1 : 5)));
      }
      return figures;
    } finally {
      await stop();
    }
  },
};

async function figuresOf(name: string, program: Program, times: number): Promise<Figure[]> {
  // Also fills the compile cache.
  const modules = await countModules(program);
  const starts: Start[] = [];
  for (let round = 0; round < times; round += 1) starts.push(await run(program));
  const goal = goals[name];
  const goalOf = (atMost: number | undefined) => (atMost === undefined ? {} : { goal: { atMost } });
  return [
    {
      name: `${name}, start to ready`,
      unit: 's',
      values: starts.map(({ seconds }) => seconds),
      ...goalOf(goal?.seconds),
    },
    {
      name: `${name}, idle`,
      unit: 'MiB',
      values: starts.map(({ mebibytes }) => mebibytes),
      ...goalOf(goal?.mebibytes),
    },
    { name: `${name}, loaded`, unit: 'modules', values: [modules] },
  ];
}

type Program = Pick<Parameters<typeof startMeasured>[0], 'program' | 'environment' | 'arguments'>;

/** Runs a program until it is idle, and stops it with SIGTERM, so that it writes its compile cache. */
async function run(program: Parameters<typeof startMeasured>[0]): Promise<Start> {
  const begin = performance.now();
  const running = await startMeasured(program);
  const seconds = (performance.now() - begin) / 1000;
  await pause(settledMs);
  const process = `/proc/${running.pid}`;
  const mebibytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`${process}/status`, 'utf8'))?.[1]) / 1024;
  kill(running.pid, 'SIGTERM');
  while (existsSync(process)) await pause(20);
  return { seconds, mebibytes };
}

/** Returns the number of modules that a program has loaded once it is idle. */
async function countModules(program: Program): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-bench-'));
  try {
    const file = join(folder, 'modules');
    await run({
      ...program,
      environment: { ...program.environment, MODULES_FILE: file },
      flags: ['--import', counter],
    });
    return Number(readFileSync(file, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
