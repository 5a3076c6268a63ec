import { readFileSync } from 'node:fs';
import type { Bench, Figure } from '../bench.ts';
import { browserRequest, launchRequests, openStage, type Stage } from '../launch/stage.ts';
import { sendAll } from '../load.ts';
import { fetchToken } from '../registry.ts';

const measuredProcesses = ['launch-api', 'launch-gateway', 'audit-trail'] as const;

/** The memory of each process at the end of a minute, in MiB. */
type Sample = Readonly<Record<(typeof measuredProcesses)[number], number>>;

/**
 * Applies a constant load (for `BENCH_MINUTES`, by default six). The memory of a process may grow by at most
 * a quarter after the first minutes.
 */
export const soak: Bench = {
  name: 'soak',
  async run({ short, progress }) {
    const perSecond = short ? 100 : 500;
    const minutes = short ? 4 : Number(process.env['BENCH_MINUTES'] ?? 6);
    const secondsOfMinute = short ? 2 : 60;
    const stage = await openStage({ isAudited: true });
    try {
      const samples: Sample[] = [];
      for (let minute = 1; minute <= minutes; minute += 1) {
        await launchFor(secondsOfMinute, perSecond, stage);
        const sample = sampleOf(stage);
        samples.push(sample);
        progress(`minute ${minute} of ${minutes} at ${perSecond} launches a second: ${describe(sample)}`);
      }
      return measuredProcesses.flatMap((name) => memoryFigures(name, samples));
    } finally {
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

function sampleOf({ api, gateway, auditTrail }: Stage): Sample {
  return {
    'launch-api': memoryOf(api.pid),
    'launch-gateway': memoryOf(gateway.pid),
    'audit-trail': auditTrail === undefined ? Number.NaN : memoryOf(auditTrail.pid),
  };
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
