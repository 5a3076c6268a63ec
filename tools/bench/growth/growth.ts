import { readFileSync } from 'node:fs';
import { startRedisCluster } from '@clinical-launch/testing/redis/redis-server';
import { type Bench, type BenchOptions, type Figure, ratios } from '../bench.ts';
import { type Contender, figuresOf, runContest } from '../contest.ts';
import { launchRequests, openStage, type Stage, type StageOptions } from '../launch/stage.ts';

/** The highest allowed ratio of the cost at a large amount to the cost at a small amount. */
const flat = { atMost: 1.25 };

/**
 * Measures how the cost of RequestLaunchUrl depends on its payload, the stored identifiers, the registry and
 * a Redis cluster.
 */
export const growth: Bench = {
  name: 'growth',
  async run(options) {
    const figures: Figure[] = [...(await measurePayloads(options))];
    const many = options.short ? 10_000 : 1_000_000;
    const crowd = options.short ? 20 : 1000;
    figures.push(
      ...(await compare('stored identifiers', options, [
        { name: '1', stage: { identifiers: 1 } },
        { name: many.toLocaleString('en-GB'), stage: { identifiers: many } },
      ])),
      ...(await compare('issuers', options, [
        { name: '3', stage: {} },
        { name: `${crowd}`, stage: { registry: { realms: crowd } } },
      ])),
      ...(await compare('clients of an issuer', options, [
        { name: '1', stage: {} },
        { name: `${crowd}`, stage: { registry: { clients: crowd } } },
      ])),
      ...(await compareCluster(options)),
    );
    return figures;
  },
};

const paceOf = ({ short, progress }: BenchOptions, subject: string) => ({
  rounds: short ? 1 : 5,
  warmUps: 1,
  progress: (text: string) => progress(`${subject}: ${text}`),
});
const sizeOf = ({ short }: BenchOptions) => (short ? 200 : 4000);

async function measurePayloads(options: BenchOptions): Promise<Figure[]> {
  const stage = await openStage();
  const samples = ['09-minimal', '01-OrderTest', '12-full-r4-extras', '10-at-every-limit'];
  const payloads = new Map(samples.map((name) => [name, readSample(name)]));
  try {
    // The compared payloads are all sent to the same server.
    const contenders = samples.map((name) => ({ name, server: stage.api }));
    const requests = async ({ name }: Contender) =>
      launchRequests(sizeOf(options), stage.token, payloads.get(name));
    const figures = figuresOf('payload', await runContest(contenders, requests, paceOf(options, 'payload')));
    return withRatios('payload', figures);
  } finally {
    await stage.stop();
  }
}

function readSample(name: string): unknown {
  const url = new URL(`../../../libs/testing/samples/${name}.json`, import.meta.url);
  const sample = JSON.parse(readFileSync(url, 'utf8'));
  const [identifier] = sample.identifier;
  return { ...sample, identifier: [{ ...identifier, value: 'THE-IDENTIFIER' }] };
}

type Variant = { readonly name: string; readonly stage: StageOptions };

async function compare(
  subject: string,
  options: BenchOptions,
  variants: readonly Variant[],
): Promise<Figure[]> {
  const stages: { name: string; stage: Stage }[] = [];
  try {
    for (const { name, stage } of variants) {
      options.progress(`${subject}: ${name}`);
      stages.push({ name, stage: await openStage(stage) });
    }
    const contenders = stages.map(({ name, stage }) => ({ name, server: stage.api }));
    const requests = async ({ name }: Contender) =>
      launchRequests(sizeOf(options), stages.find((one) => one.name === name)?.stage.token ?? '');
    const figures = figuresOf(subject, await runContest(contenders, requests, paceOf(options, subject)));
    return withRatios(subject, figures);
  } finally {
    for (const { stage } of stages) await stage.stop();
  }
}

async function compareCluster(options: BenchOptions): Promise<Figure[]> {
  const cluster = await startRedisCluster();
  try {
    return await compare('nodes of Redis', options, [
      { name: '1', stage: {} },
      { name: '3, as a cluster', stage: { redisUrl: cluster.url } },
    ]);
  } finally {
    await cluster.stop();
  }
}

/** Appends one ratio for each further figure: the figure divided by the first figure. */
function withRatios(subject: string, figures: readonly Figure[]): Figure[] {
  const [first, ...others] = figures;
  return [
    ...figures,
    ...others.map((figure): Figure => {
      const [name] = figure.name.split(', ').slice(1);
      return {
        name: `${subject}: ${name} ÷ the first`,
        unit: '×',
        values: ratios(figure.values, first?.values ?? []),
        goal: flat,
      };
    }),
  ];
}
