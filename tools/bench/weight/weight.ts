import { existsSync, readFileSync } from 'node:fs';
import { kill } from 'node:process';
import { pause } from '@clinical-launch/runtime/clock';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import type { Bench, Figure } from '../bench.ts';
import { keepAll, leaveFirstCore, startMeasured } from '../processes.ts';
import { writeRegistry } from '../registry.ts';

type Program = Parameters<typeof startMeasured>[0];

/** The longest start in seconds, and the most memory in MiB. */
type Limits = { readonly seconds: number; readonly mebibytes: number };

const serviceLimits = { seconds: 0.5, mebibytes: 90 };
const platformLimits = { seconds: 3, mebibytes: 350 };
/** The milliseconds after `ready` in which a process releases the memory that only its start needed. */
const settledMs = 1500;

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
        LOG_LEVEL: 'error',
      };
      const times = short ? 1 : 5;
      const figures: Figure[] = [];
      for (const name of ['launch-api', 'launch-gateway']) {
        progress(name);
        const program = { program: `services/${name}/src/main.ts`, environment };
        figures.push(...(await figuresOf(name, program, serviceLimits, times)));
      }
      progress('npm start');
      const platform = { program: 'tools/platform/src/main.ts', environment: { LOG_LEVEL: 'error' } };
      return [...figures, ...(await figuresOf('npm start', platform, platformLimits, times))];
    } finally {
      await stop();
    }
  },
};

async function figuresOf(name: string, program: Program, limits: Limits, times: number): Promise<Figure[]> {
  // Fills the compile cache.
  await run(program);
  const starts: Start[] = [];
  for (let round = 0; round < times; round += 1) starts.push(await run(program));
  return [
    {
      name: `${name}, start to ready`,
      unit: 's',
      values: starts.map(({ seconds }) => seconds),
      goal: { atMost: limits.seconds },
    },
    {
      name: `${name}, idle`,
      unit: 'MiB',
      values: starts.map(({ mebibytes }) => mebibytes),
      goal: { atMost: limits.mebibytes },
    },
  ];
}

/** Runs a program until it is idle, and stops it with SIGTERM, so that it writes its compile cache. */
async function run(program: Program): Promise<Start> {
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
