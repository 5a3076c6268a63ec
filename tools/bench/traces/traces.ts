import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench, BenchOptions, Figure } from '../bench.ts';
import { figuresOf, runContest } from '../contest.ts';
import { launchRequests, openStage, type Stage, secureLaunches } from '../launch/stage.ts';
import type { RequestText } from '../load.ts';
import type { Measured } from '../processes.ts';

/** Measures the CPU that spans add to requests of the launch path when every span is exported. */
export const traces: Bench = {
  name: 'traces',
  async run(options) {
    const collector = await startCollector();
    const off = await openStage();
    const on = await openStage({
      redisUrl: off.redisUrl,
      environment: {
        // Exports only spans, because OTEL_EXPORTER_OTLP_ENDPOINT would also export metrics.
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      },
    });
    try {
      const stages = { off, on };
      return [
        ...(await measure('RequestLaunchUrl', ({ api }) => api, stages, options)),
        ...(await measure('secureLaunch', ({ gateway }) => gateway, stages, options)),
      ];
    } finally {
      await on.stop();
      await off.stop();
      await collector.stop();
    }
  },
};

type Stages = { readonly off: Stage; readonly on: Stage };

/** The maximum added microseconds of CPU per request. */
const goal = { atMost: 30 };

/**
 * The requests per round. The added cost is a tenth of the noise between rounds, so many short rounds are
 * needed. Even a busy machine redeems this many launches before they expire.
 */
const sizes = { RequestLaunchUrl: 1500, secureLaunch: 1000 };

async function measure(
  row: keyof typeof sizes,
  serverOf: (stage: Stage) => Measured,
  stages: Stages,
  { short, progress }: BenchOptions,
): Promise<Figure[]> {
  const [without, recorded] = ['without spans', 'with spans'];
  const contenders = [
    { name: without, server: serverOf(stages.off) },
    { name: recorded, server: serverOf(stages.on) },
  ];
  const requests = async ({ name }: { readonly name: string }): Promise<readonly RequestText[]> => {
    const { api, token } = name === recorded ? stages.on : stages.off;
    const launches = launchRequests(short ? 300 : sizes[row], token);
    return row === 'RequestLaunchUrl' ? launches : secureLaunches(api, launches);
  };
  const pace = { rounds: short ? 1 : 41, warmUps: short ? 1 : 4, progress };
  const results = await runContest(contenders, requests, pace);
  const cpuOf = (name: string) => (results.get(name) ?? []).map(({ cpuUs }) => cpuUs);
  const added = cpuOf(recorded).map((cpuUs, round) => cpuUs - (cpuOf(without)[round] ?? Number.NaN));
  return [...figuresOf(row, results), { name: `${row}, added by spans`, unit: 'µs', values: added, goal }];
}

/** Starts a collector that accepts spans and drops them. */
async function startCollector() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
