import { readFileSync } from 'node:fs';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import type { Bench, Figure } from '../bench.ts';
import { browserRequest, launchRequests, openStage, type Stage } from '../launch/stage.ts';
import { sendAll } from '../load.ts';
import { fetchToken } from '../registry.ts';

const megabyte = 1024 * 1024;
const measuredProcesses = ['launch-api', 'launch-gateway', 'audit-trail'] as const;

/** A launch session expires thirty minutes after its launch. Redis removes the session a little later. */
const sessionsEndAfterMinutes = 32;

/** The memory of each process and of Redis at the end of a minute, in MiB. */
type Sample = Readonly<Record<(typeof measuredProcesses)[number] | 'Redis', number>>;

/**
 * Applies a constant load (for `BENCH_MINUTES`, by default six). The memory of a process may grow by at most
 * a quarter after the first minutes. When a launch session has ended, Redis must contain only the long-lived
 * data of its launch.
 */
export const soak: Bench = {
  name: 'soak',
  async run({ short, progress }) {
    const perSecond = short ? 100 : 500;
    const minutes = short ? 4 : Number(process.env['BENCH_MINUTES'] ?? 6);
    const secondsOfMinute = short ? 2 : 60;
    const stage = await openStage({ isAudited: true });
    const redis = await connectRedis(stage.redisUrl);
    try {
      const samples: Sample[] = [];
      for (let minute = 1; minute <= minutes; minute += 1) {
        await launchFor(secondsOfMinute, perSecond, stage);
        // The memory per launch in Redis is measured between these two minutes.
        if (minute === sessionsEndAfterMinutes || minute === minutes) await forgetExpired(redis);
        const sample = await sampleOf(stage, redis);
        samples.push(sample);
        progress(`minute ${minute} of ${minutes} at ${perSecond} launches a second: ${describe(sample)}`);
      }
      return [
        ...measuredProcesses.flatMap((name) => memoryFigures(name, samples)),
        ...redisFigures(samples, perSecond * secondsOfMinute),
      ];
    } finally {
      redis.disconnect();
      await stage.stop();
    }
  },
};

/**
 * Returns the memory of a process. At the end, the memory may be at most a quarter larger than after the
 * first minutes.
 */
function memoryFigures(name: (typeof measuredProcesses)[number], samples: readonly Sample[]): Figure[] {
  const values = samples.map((sample) => sample[name]);
  const some = Math.min(5, Math.floor(values.length / 2));
  const early = mean(values.slice(some, 2 * some));
  const late = mean(values.slice(-some));
  return [
    { name: `${name}, memory in the last ${some} minutes`, unit: 'MiB', values: values.slice(-some) },
    {
      name: `${name}, memory ÷ memory of the minutes ${some + 1} to ${2 * some}`,
      unit: '×',
      values: [late / early],
      goal: { atMost: 1.25 },
    },
  ];
}

/**
 * Returns the memory of Redis. The memory per launch can be measured only when as many sessions end as begin.
 */
function redisFigures(samples: readonly Sample[], launchesPerMinute: number): Figure[] {
  const values = samples.map(({ Redis }) => Redis);
  const steady = values.slice(sessionsEndAfterMinutes - 1);
  const [first = 0, last = 0] = [steady.at(0), steady.at(-1)];
  const memory: Figure = { name: 'Redis, memory at the end', unit: 'MiB', values: values.slice(-1) };
  if (steady.length < 2) return [memory];
  return [
    memory,
    {
      name: 'Redis, memory of a launch after its session',
      unit: 'B',
      values: [((last - first) * megabyte) / ((steady.length - 1) * launchesPerMinute)],
      // The goal covers the key that marks a launch token as used (stored for one day), the originating id
      // (400 days), and a quarter more for Redis's tables.
      goal: { atMost: 300 },
    },
  ];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const describe = (sample: Sample) =>
  Object.entries(sample)
    .map(([name, mebibytes]) => `${name} ${Math.round(mebibytes)} MiB`)
    .join(', ');

async function launchFor(seconds: number, perSecond: number, stage: Stage): Promise<void> {
  // Fetches a new token each time, because tokens expire after an hour.
  const token = await fetchToken(stage.issuer.url, 'RS256');
  // Preparing requests for more seconds would need much memory.
  const stepSeconds = Math.min(seconds, 5);
  for (let second = 0; second < seconds; second += stepSeconds) {
    const opened: Promise<unknown>[] = [];
    const waiting: string[] = [];
    const openWaiting = () => {
      const requests = waiting.splice(0).map(browserRequest);
      opened.push(sendAll({ url: stage.gateway.url, connections: 8, requests }));
    };
    await sendAll({
      url: stage.api.url,
      connections: 32,
      requests: launchRequests(perSecond * stepSeconds, token),
      perSecond,
      sleeps: true,
      onAnswer: ({ body }) => {
        waiting.push(JSON.parse(body).url);
        if (waiting.length === 100) openWaiting();
      },
    });
    openWaiting();
    await Promise.all(opened);
  }
}

async function sampleOf({ api, gateway, auditTrail }: Stage, redis: RedisClient): Promise<Sample> {
  const [, used] = /^used_memory:(\d+)/m.exec(await redis.info('memory')) ?? [];
  return {
    'launch-api': memoryOf(api.pid),
    'launch-gateway': memoryOf(gateway.pid),
    'audit-trail': auditTrail === undefined ? Number.NaN : memoryOf(auditTrail.pid),
    Redis: Number(used) / megabyte,
  };
}

/**
 * Scans all keys, so that Redis removes the expired keys. Without a scan, up to a quarter of the stored keys
 * may have expired.
 */
async function forgetExpired(redis: RedisClient): Promise<void> {
  let cursor = '0';
  do [cursor] = await redis.scan(cursor, 'COUNT', 1000);
  while (cursor !== '0');
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / megabyte;
}
