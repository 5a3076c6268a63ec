import type { Bench, BenchOptions, Figure } from '../bench.ts';
import { figuresOf, runContest, shareOf } from '../contest.ts';
import { p50, p99, sendAll } from '../load.ts';
import { launchRequests, openStage, type Stage, secureLaunches } from './stage.ts';

/**
 * Measures the CPU of RequestLaunchUrl and secureLaunch compared with bare servers, and latencies at a
 * constant rate.
 */
export const launch: Bench = {
  name: 'launch',
  async run(options) {
    const stage = await openStage();
    try {
      return [
        ...(await measureRequestLaunchUrl(stage, options)),
        ...(await measureSecureLaunch(stage, options)),
        ...(await measureEvenRates(stage, options)),
      ];
    } finally {
      await stage.stop();
    }
  },
};

const sizeOf = ({ short }: BenchOptions) => (short ? 300 : 6000);
const paceOf = ({ short, progress }: BenchOptions) => ({
  rounds: short ? 1 : 7,
  warmUps: short ? 1 : 2,
  progress,
});

async function measureRequestLaunchUrl(
  { api, bare, token }: Stage,
  options: BenchOptions,
): Promise<Figure[]> {
  const [row, whole, small] = ['RequestLaunchUrl', 'bare, the same work', 'bare, neither checks nor seal'];
  const contenders = [
    { name: 'launch-api', server: api },
    { name: whole, server: await bare('launch-whole') },
    { name: small, server: await bare('launch-small') },
  ];
  const requests = async () => launchRequests(sizeOf(options), token);
  const figures = figuresOf(row, await runContest(contenders, requests, paceOf(options)));
  return [...figures, shareOf(figures, row, whole, 0.75), shareOf(figures, row, small, 0.55)];
}

async function measureSecureLaunch(stage: Stage, options: BenchOptions): Promise<Figure[]> {
  const { api, gateway, bare, token } = stage;
  const [row, whole, small] = ['secureLaunch', 'bare, seal and page', 'bare, hash and script'];
  const contenders = [
    { name: 'launch-gateway', server: gateway },
    { name: whole, server: await bare('gateway-whole') },
    { name: small, server: await bare('gateway-small') },
  ];
  const requests = () => secureLaunches(api, launchRequests(sizeOf(options), token));
  const figures = figuresOf(row, await runContest(contenders, requests, paceOf(options)));
  return [...figures, shareOf(figures, row, whole, 0.75), shareOf(figures, row, small, 0.45)];
}

/** Measures latencies at a constant rate, which reveal stalls that a closed loop hides. */
async function measureEvenRates({ api, token, bare }: Stage, options: BenchOptions): Promise<Figure[]> {
  const limit = await bare('launch-whole');
  const figures: Figure[] = [];
  for (const { perSecond, atMost } of [
    { perSecond: 1000, atMost: 25 },
    { perSecond: 2000, atMost: 50 },
  ]) {
    const offered = `RequestLaunchUrl, ${perSecond}/s offered`;
    const ours: { p50: number; p99: number }[] = [];
    const bares: number[] = [];
    for (let round = 0; round < (options.short ? 1 : 5); round += 1) {
      options.progress(`${perSecond} requests a second`);
      const requests = () => launchRequests(perSecond * (options.short ? 0.3 : 4), token);
      const load = { connections: 64, perSecond };
      bares.push(p99(await sendAll({ url: limit.url, requests: requests(), ...load })));
      const result = await sendAll({ url: api.url, requests: requests(), ...load });
      ours.push({ p50: p50(result), p99: p99(result) });
    }
    figures.push(
      { name: `${offered}, p50`, unit: 'ms', values: ours.map((one) => one.p50) },
      { name: `${offered}, p99`, unit: 'ms', values: ours.map((one) => one.p99), goal: { atMost } },
      { name: `${offered}, p99 of the bare server`, unit: 'ms', values: bares },
    );
  }
  return figures;
}
