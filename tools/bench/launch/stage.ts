import { randomUUID } from 'node:crypto';
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
import { fetchToken, type RegistrySize, writeRegistry } from '../registry.ts';

const { codeVerifier, codeChallenge } = createPkcePair();
const yearMs = 365 * 86_400_000;
const claimsPerPage = 5000;

/** The programs of the launch path. */
export type Stage = {
  readonly issuer: Measured;
  readonly api: Measured;
  readonly gateway: Measured;
  readonly auditTrail: Measured | undefined;
  readonly redisUrl: string;
  /** Starts a bare server of `bare.ts` on the same Redis. */
  readonly bare: (name: string) => Promise<Measured>;
  readonly token: string;
  readonly stop: () => Promise<void>;
};

export type StageOptions = {
  /** The number of originating ids already claimed. */
  readonly identifiers?: number;
  readonly registry?: RegistrySize;
  /** The address of the Redis to use. By default, starts a new Redis. */
  readonly redisUrl?: string;
  /** Whether audit-trail also runs and publishes the events, as in operation. */
  readonly isAudited?: boolean;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

/** Starts the launch path. */
export async function openStage({
  identifiers = 0,
  registry: size = {},
  isAudited = false,
  flags = [],
  ...options
}: StageOptions = {}): Promise<Stage> {
  await leaveFirstCore();
  const { kept, stop } = keepAll();
  const redisUrl = options.redisUrl ?? (await kept(startRedis())).url;
  const postgres = await kept(startPostgres());
  const client = await connectRedis(redisUrl);
  // In operation, audit-trail restores the claimed originating ids at its start.
  await new RedisClaims({ redis: client }).rebuild(inventClaims(identifiers));
  client.disconnect();
  const registry = await kept(writeRegistry(size));
  const common = {
    REDIS_URL: redisUrl,
    DATABASE_URL: postgres.url,
    PUBLIC_URL: 'http://launch.example',
    REGISTRY_FILE: registry.path,
    ...options.environment,
  };
  const start = (service: string, environment: Readonly<Record<string, string>>) =>
    kept(
      startMeasured({
        program: `services/${service}/src/main.ts`,
        flags,
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
    redisUrl,
    bare: (name) =>
      kept(startMeasured({ program: 'tools/bench/launch/bare.ts', arguments: [name], environment: common })),
    token: await fetchToken(issuer.url, 'RS256'),
    stop,
  };
}

async function* inventClaims(count: number) {
  const expiresAt = Date.now() + yearMs;
  for (let at = 0; at < count; at += claimsPerPage) {
    const size = Math.min(claimsPerPage, count - at);
    yield Array.from({ length: size }, () => ({ name: randomUUID(), holder: 'OrderTest', expiresAt }));
  }
}

const identifier = 'THE-IDENTIFIER';
const invented = aServiceRequest({ originatingId: identifier });

/**
 * Returns launch requests, each with a new originating id.
 * @param payload contains `THE-IDENTIFIER` in place of the originating id
 */
export function launchRequests(count: number, token: string, payload: unknown = invented): RequestText[] {
  const [before = '', after = ''] = JSON.stringify(payload).split(identifier);
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
