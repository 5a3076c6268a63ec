import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { redisAclFile } from '@clinical-launch/ops/access';
import { frugalMalloc } from '@clinical-launch/testing/jest/run-folder';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { findFreePort, type PrivateServer } from '@clinical-launch/testing/servers/private-server';
import { type PrivateRabbitMq, startRabbitMq } from '@clinical-launch/testing/servers/rabbitmq';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { addressAs, redisUsers } from '../../tools/ops/test/part-users.ts';
import type { ServiceName } from './edge.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createServiceProcess, fillCodeCache, type ServiceProcess } from './service-process.ts';
import { size } from './size.ts';

/**
 * The whole platform as in operation: the service processes, servers that a test may break, and a receiver of
 * callbacks.
 */
export type System = {
  readonly receiver: Receiver;
  /** The URL contains the user of an administrator. Each service has its own user. */
  readonly redis: PrivateServer;
  readonly rabbitMq: PrivateRabbitMq;
  readonly postgres: PrivateServer;
  readonly processes: readonly ServiceProcess[];
  /** The folder of the logs and journals, which `stop` removes. */
  readonly directory: string;
  replicasOf(service: ServiceName): readonly ServiceProcess[];
  stop(): Promise<void>;
};

const replicas: readonly ServiceName[] = [
  'identity-provider',
  'launch-api',
  'launch-api',
  'launch-gateway',
  'launch-gateway',
  'ordering',
  'ordering',
  'order-renderer',
  'order-renderer',
  'audit-trail',
  'resource-api',
];

/** The load comes from one address and tests count every refusal, so refusals per address are not limited. */
export const everyRefusalAudited = {
  REFUSALS_PER_ADDRESS: '0',
};

export type SystemOptions = {
  /** One entry for each replica; the whole platform by default. */
  readonly services?: readonly ServiceName[];
  /** Arguments for Redis's command line. */
  readonly redisSettings?: readonly string[];
  /** The registry file of every service; the demo's by default. */
  readonly registryFile?: string;
  /** Additional environment variables for every service. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** Starts the platform. If one part fails to start, stops the other parts. */
export async function startSystem({
  services = replicas,
  redisSettings = [],
  registryFile = fileURLToPath(new URL('../../sandbox/simulators/registry.json', import.meta.url)),
  environment = everyRefusalAudited,
}: SystemOptions = {}): Promise<System> {
  const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-faults-'));
  const stops: (() => Promise<void>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const stopOne of stops.toReversed()) await stopOne();
  };
  const kept = async <Server extends PrivateServer>(starting: Promise<Server>) => {
    const server = await starting;
    stops.push(() => server.stop());
    return server;
  };
  try {
    const receiver = await startReceiver();
    stops.push(() => receiver.stop());
    const ofNode = {
      ...frugalMalloc,
      // Limits V8's young generation, as in a container with little memory.
      NODE_OPTIONS: '--max-semi-space-size=2',
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(directory, 'code'),
    };
    const servers = await allOf([
      kept(startRedis([...redisSettings, ...redisSettingsOf(new Set(services))])),
      kept(startRabbitMq({ hasMetrics: true })),
      kept(startPostgres(['shared_buffers=32MB', 'max_wal_size=128MB', 'max_connections=80'])),
      ...[...new Set(services)].map((service) => fillCodeCache(service, ofNode)),
    ]);
    const [server, rabbitMq, postgres] = servers;
    const redis = { ...server, url: addressAs('admin', server.url) };
    const parts = {
      REDIS_URL: server.url,
      AMQP_URL: rabbitMq.url,
      DATABASE_URL: postgres.url,
      PLATFORM_URL: receiver.url,
    };
    const processes = await createProcesses(directory, {
      services,
      parts,
      registryFile,
      environment: { ...ofNode, ...environment },
    });
    stops.push(async () => void (await Promise.all(processes.map((one) => one.kill()))));
    await allOf(processes.map((one) => one.start()));
    const replicasOf = (service: ServiceName) => processes.filter((one) => one.service === service);
    return { receiver, redis, rabbitMq, postgres, processes, directory, replicasOf, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns command-line arguments that define the users of a deployment, and an administrator. */
function redisSettingsOf(services: ReadonlySet<ServiceName>): string[] {
  const users = [...services].map((service) => {
    const { username: name, password } = new URL(addressAs(service, 'redis://host'));
    return { service, name, password };
  });
  return redisUsers(redisAclFile(users)).flatMap((user) => ['--user', ...user]);
}

/**
 * Works like `Promise.all`, but waits for all promises before it throws, so that no start is still running.
 */
async function allOf<Values extends readonly unknown[]>(
  promises: {
    readonly [Index in keyof Values]: Promise<Values[Index]>;
  },
): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises) as Promise<unknown> as Promise<Values>;
}

/** The variables that each service receives in addition to `REDIS_URL`: for its servers and for callbacks. */
const partsOf: Readonly<Record<ServiceName, readonly string[]>> = {
  'identity-provider': ['AMQP_URL', 'DATABASE_URL'],
  'launch-api': [],
  'launch-gateway': [],
  ordering: ['AMQP_URL', 'DATABASE_URL'],
  'order-renderer': ['AMQP_URL', 'DATABASE_URL', 'PLATFORM_URL'],
  'audit-trail': ['AMQP_URL', 'DATABASE_URL'],
  'resource-api': [],
};

type ProcessesOptions = Required<Pick<SystemOptions, 'services' | 'environment' | 'registryFile'>> & {
  readonly parts: Readonly<Record<string, string>>;
};

async function createProcesses(
  directory: string,
  { services, parts, registryFile, environment }: ProcessesOptions,
): Promise<ServiceProcess[]> {
  const ports = await findPorts(services.length * 2);
  const addresses = services.map((service, index) => ({
    service,
    url: `http://127.0.0.1:${ports[2 * index]}`,
    adminUrl: `http://127.0.0.1:${ports[2 * index + 1]}`,
  }));
  const shared = {
    LOG_LEVEL: 'warn',
    ...environment,
    TEST_DIRECTORY: directory,
    HOST: '127.0.0.1',
    SHUTDOWN_DELAY_MS: `${size.shutdownDelayMs}`,
    // The edge's address for browsers. The tests send nothing to it.
    PUBLIC_URL: 'http://launch.example',
    REGISTRY_FILE: registryFile,
    IDENTITY_PROVIDER_URL: addresses.find(({ service }) => service === 'identity-provider')?.url ?? '',
  };
  return addresses.map((address, index) =>
    createServiceProcess({
      ...address,
      environment: {
        ...shared,
        ...Object.fromEntries(partsOf[address.service].map((name) => [name, parts[name] ?? ''])),
        REDIS_URL: addressAs(address.service, parts['REDIS_URL'] ?? ''),
      },
      logFile: join(directory, `${index}-${address.service}.log`),
    }),
  );
}

async function findPorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await findFreePort());
  return [...found];
}
