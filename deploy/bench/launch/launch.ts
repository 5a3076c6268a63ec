import { randomUUID } from 'node:crypto';
import { createPkcePair } from '@clinical-launch/pms-client';
import { aServiceRequest, startPostgres, startRedis } from '@clinical-launch/testing';
import { connectRedis, RedisClaims } from '@clinical-launch/tickets';
import type { Bench, BenchOptions, Figure } from '../bench.ts';
import { connections, contest, figuresOf, shareOf } from '../contest.ts';
import { get, p50, p99, post, type RequestText, sendAll } from '../load.ts';
import { keepAll, leaveFirstCore, type Measured, startMeasured } from '../processes.ts';
import { fetchToken, writeRegistry } from '../registry.ts';

const { codeVerifier, codeChallenge } = createPkcePair();

type Stage = {
  readonly api: Measured;
  readonly gateway: Measured;
  readonly bare: (name: string) => Promise<Measured>;
  readonly token: string;
  stop(): Promise<void>;
};

/** Starts what the launch path needs, and nothing else. */
export async function openStage(flags: readonly string[] = []): Promise<Stage> {
  await leaveFirstCore();
  const { kept, stop } = keepAll();
  const [redis, postgres] = [await kept(startRedis()), await kept(startPostgres())];
  const client = await connectRedis(redis.url);
  // In operation audit-trail does this when it starts.
  await new RedisClaims({ redis: client }).rebuild((async function* () {})());
  client.disconnect();
  const registry = await kept(writeRegistry());
  const common = {
    REDIS_URL: redis.url,
    DATABASE_URL: postgres.url,
    PUBLIC_URL: 'http://launch.example',
    REGISTRY_FILE: registry.path,
  };
  const start = (service: string, environment: Readonly<Record<string, string>> = {}) =>
    kept(
      startMeasured({
        program: `services/${service}/src/main.ts`,
        flags,
        environment: { ...common, ...environment },
      }),
    );
  // Nobody asks it for a key of its own.
  const issuer = await start('identity-provider', { IDENTITY_PROVIDER_URL: 'http://127.0.0.1:1' });
  const api = await start('launch-api', { IDENTITY_PROVIDER_URL: issuer.url });
  const gateway = await start('launch-gateway');
  return {
    api,
    gateway,
    bare: (name) =>
      kept(startMeasured({ program: 'deploy/bench/launch/bare.ts', arguments: [name], environment: common })),
    token: await fetchToken(issuer.url, 'RS256'),
    stop,
  };
}

const payload = aServiceRequest({ originatingId: 'THE-IDENTIFIER' });

/** Returns requests for a launch, each with an identifier of its own. */
export function launchRequests(count: number, token: string): RequestText[] {
  const [before = '', after = ''] = JSON.stringify(payload).split('THE-IDENTIFIER');
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/fhir+json',
    'Code-Challenge': codeChallenge,
  };
  return Array.from({ length: count }, () =>
    post('/AccessApi/RequestLaunchUrl', `${before}${randomUUID()}${after}`, headers),
  );
}

/** CPU of RequestLaunchUrl and secureLaunch beside bare servers, and their answers at an even rate. */
export const launch: Bench = {
  name: 'launch',
  async run({ short, progress }) {
    const stage = await openStage();
    const { api, gateway, bare, token } = stage;
    const size = short ? 300 : 6000;
    const pace = { rounds: short ? 1 : 7, warmUps: short ? 1 : 2, progress };
    try {
      const launched = figuresOf(
        'RequestLaunchUrl',
        await contest(
          [
            { name: 'launch-api', server: api },
            { name: 'bare, the same work', server: await bare('launch-whole') },
            { name: 'bare, neither checks nor seal', server: await bare('launch-small') },
          ],
          async () => launchRequests(size, token),
          pace,
        ),
      );
      const opened = figuresOf(
        'secureLaunch',
        await contest(
          [
            { name: 'launch-gateway', server: gateway },
            { name: 'bare, seal and page', server: await bare('gateway-whole') },
            { name: 'bare, hash and script', server: await bare('gateway-small') },
          ],
          () => secureLaunches(api, launchRequests(size, token)),
          pace,
        ),
      );
      return [
        ...launched,
        shareOf(launched, 'RequestLaunchUrl', 'bare, the same work', 0.75),
        shareOf(launched, 'RequestLaunchUrl', 'bare, neither checks nor seal', 0.55),
        ...opened,
        shareOf(opened, 'secureLaunch', 'bare, seal and page', 0.75),
        shareOf(opened, 'secureLaunch', 'bare, hash and script', 0.45),
        ...(await latencies(api, token, { short, progress })),
      ];
    } finally {
      await stage.stop();
    }
  },
};

/** Gets launch URLs, and returns the requests of the browsers that open them. */
export async function secureLaunches(
  api: Measured,
  requests: readonly RequestText[],
): Promise<RequestText[]> {
  const urls: string[] = [];
  const onAnswer = ({ body }: { body: string }) => urls.push(JSON.parse(body).url);
  await sendAll({ url: api.url, connections, requests, onAnswer });
  return urls.map((url) => {
    const { pathname, search } = new URL(url);
    return get(`${pathname}${search}&codeVerifier=${codeVerifier}`);
  });
}

/** The answers at an even rate, which shows stalls that a closed loop hides. */
async function latencies(api: Measured, token: string, { short, progress }: BenchOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [perSecond, atMost] of [
    [1000, 25],
    [2000, 50],
  ] as const) {
    const [medians, tails]: [number[], number[]] = [[], []];
    for (let index = 0; index < (short ? 1 : 5); index += 1) {
      progress(`${perSecond} requests a second`);
      const requests = launchRequests(perSecond * (short ? 0.3 : 4), token);
      const result = await sendAll({ url: api.url, connections: 64, requests, perSecond });
      medians.push(p50(result));
      tails.push(p99(result));
    }
    const name = `RequestLaunchUrl, ${perSecond}/s offered`;
    figures.push({ name: `${name}, p50`, unit: 'ms', values: medians });
    figures.push({ name: `${name}, p99`, unit: 'ms', values: tails, goal: { atMost } });
  }
  return figures;
}
