import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { createPkcePair } from '@clinical-launch/pms-client';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { startRabbitMq } from '@clinical-launch/testing/servers/rabbitmq';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { RedisClaims } from '@clinical-launch/tickets/redis-claims';
import { connections } from '../contest.ts';
import { get, post, type RequestText, sendAll } from '../load.ts';
import { keepAll, leaveFirstCore, type Measured, startMeasured } from '../processes.ts';
import { fetchToken, writeRegistry } from '../registry.ts';

const { codeVerifier, codeChallenge } = createPkcePair();

/** The programs of the launch path. */
export type Stage = {
  readonly issuer: Measured;
  readonly api: Measured;
  readonly gateway: Measured;
  readonly auditTrail: Measured | undefined;
  /** Starts a bare server of `bare.ts` on the same Redis. */
  readonly bare: (name: string) => Promise<Measured>;
  readonly token: string;
  readonly stop: () => Promise<void>;
};

/**
 * Starts the launch path.
 * @param isAudited whether audit-trail also runs and publishes the events, as in operation
 */
export async function openStage({ isAudited = false } = {}): Promise<Stage> {
  await leaveFirstCore();
  const { kept, stop } = keepAll();
  const redisUrl = (await kept(startRedis())).url;
  const postgres = await kept(startPostgres());
  const client = await connectRedis(redisUrl);
  // In operation, audit-trail restores the claimed originating ids at its start. Here are none.
  await new RedisClaims({ redis: client }).rebuild(Readable.from([]));
  client.disconnect();
  const registry = await kept(writeRegistry());
  const common = {
    REDIS_URL: redisUrl,
    DATABASE_URL: postgres.url,
    PUBLIC_URL: 'http://launch.example',
    REGISTRY_FILE: registry.path,
  };
  const start = (service: string, environment: Readonly<Record<string, string>>) =>
    kept(
      startMeasured({
        program: `services/${service}/src/main.ts`,
        environment: { ...common, ...environment },
      }),
    );
  const nowhere = '127.0.0.1:1';
  const issuer = await start('identity-provider', {
    // The identity provider fetches no keys of another issuer.
    IDENTITY_PROVIDER_URL: `http://${nowhere}`,
    // A missing broker does not delay requests.
    AMQP_URL: `amqp://${nowhere}`,
  });
  const api = await start('launch-api', { IDENTITY_PROVIDER_URL: issuer.url });
  const gateway = await start('launch-gateway', {});
  const startAuditTrail = async () => {
    const { url: AMQP_URL } = await kept(startRabbitMq());
    return start('audit-trail', { AMQP_URL, IDENTITY_PROVIDER_URL: issuer.url });
  };
  return {
    issuer,
    api,
    gateway,
    auditTrail: isAudited ? await startAuditTrail() : undefined,
    bare: (name) =>
      kept(startMeasured({ program: 'tools/bench/launch/bare.ts', arguments: [name], environment: common })),
    token: await fetchToken(issuer.url, 'RS256'),
    stop,
  };
}

const identifier = 'THE-IDENTIFIER';
const invented = aServiceRequest({ originatingId: identifier });

/** Returns launch requests, each with a new originating id. */
export function launchRequests(count: number, token: string): RequestText[] {
  const [before = '', after = ''] = JSON.stringify(invented).split(identifier);
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/fhir+json',
    'Code-Challenge': codeChallenge,
  };
  return Array.from({ length: count }, () =>
    post('/AccessApi/RequestLaunchUrl', `${before}${randomUUID()}${after}`, headers),
  );
}

/** Requests launch URLs, and returns the browser requests that open them. */
export async function secureLaunches(
  api: Measured,
  requests: readonly RequestText[],
): Promise<RequestText[]> {
  const urls: string[] = [];
  const onAnswer = ({ body }: { body: string }) => urls.push(JSON.parse(body).url);
  await sendAll({ url: api.url, connections, requests, onAnswer });
  return urls.map(browserRequest);
}

/** Returns the browser request that opens a launch URL. */
export function browserRequest(url: string): RequestText {
  const { pathname, search } = new URL(url);
  return get(`${pathname}${search}&codeVerifier=${codeVerifier}`);
}
