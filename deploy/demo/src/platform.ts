import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { auditTrail } from '@clinical-launch/audit-trail';
import { createSealer, type Registry } from '@clinical-launch/contracts';
import { InProcessBus } from '@clinical-launch/events';
import { identityProvider, readIdentityProviderConfig } from '@clinical-launch/identity-provider';
import { launchApi, readLaunchApiConfig } from '@clinical-launch/launch-api';
import { launchGateway, readLaunchGatewayConfig } from '@clinical-launch/launch-gateway';
import { orderRenderer, readOrderRendererConfig } from '@clinical-launch/order-renderer';
import { ordering, readOrderingConfig } from '@clinical-launch/ordering';
import {
  type Clock,
  createAccessTokenVerifier,
  createAdminApp,
  createApp,
  issuerPolicies,
  type Logger,
  listen,
  type RunningServer,
  readRegistryFile,
  readTogether,
  type Service,
} from '@clinical-launch/service';
import { openEmbeddedStorage } from '@clinical-launch/storage';
import { InMemoryTickets } from '@clinical-launch/tickets';
import { assertNotProduction, type Environment, readDemoConfig } from './config.ts';
import { pmsSimulator } from './pms/simulator.ts';

export type Platform = {
  /** The address that browsers and backends use. */
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Lets what is under way finish, then ends everything in reverse order. */
  stop(): Promise<void>;
};

type PlatformOptions = { readonly environment: Environment; readonly clock: Clock; readonly logger: Logger };

/**
 * Starts the whole platform in this process, on embedded parts, behind the edge map, with the simulators.
 * Nothing outlives the process.
 * @throws TypeError that names every fault of the configuration at once.
 */
export async function startPlatform({ environment, clock, logger }: PlatformOptions): Promise<Platform> {
  let answer: RequestListener = startingUp;
  const { demo } = readTogether({
    demo: () => readDemoConfig(environment),
    production: () => assertNotProduction(environment),
    // Read again below, with the address; here so that a faulty setting is told before a port is taken.
    services: () => readConfigs({ ...environment, PUBLIC_URL: environment.PUBLIC_URL || 'http://localhost' }),
  });
  const server = await listen((request, response) => answer(request, response), demo);
  try {
    const publicUrl = demo.publicUrl ?? `http://localhost:${server.port}`;
    const platformUrl = `http://127.0.0.1:${server.port}`;
    const parts = await openParts({
      configs: readConfigs({ ...environment, PUBLIC_URL: publicUrl }),
      registry: readRegistryFile(demo.registryFile, { publicUrl }),
      platformUrl,
      clock,
      logger,
    });
    const admin = await listen(createAdminApp(parts.checks), { port: demo.adminPort, host: '127.0.0.1' });
    answer = createApp({
      mounts: parts.mounts,
      logger,
      clock,
      isProduction: false,
      trustedProxies: demo.trustedProxies,
    });
    return {
      publicUrl,
      adminUrl: `http://127.0.0.1:${admin.port}`,
      stop: () => stopAll([server, parts, admin]),
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const startingUp: RequestListener = (_request, response) => {
  response.writeHead(503, { 'Retry-After': '1' }).end();
};

async function stopAll(running: readonly Pick<RunningServer, 'stop'>[]): Promise<void> {
  for (const one of running) await one.stop();
}

type PartsOptions = Omit<PlatformOptions, 'environment'> & {
  readonly configs: ReturnType<typeof readConfigs>;
  readonly registry: Registry;
  /** Where this process reaches itself. */
  readonly platformUrl: string;
};

async function openParts({ configs, registry, platformUrl, clock, logger }: PartsOptions) {
  const { publicUrl, audience } = configs.identityProvider;
  const storage = await openEmbeddedStorage();
  const bus = new InProcessBus({
    onDeadLetter: ({ consumer, event: { id, type, correlationid }, error }) =>
      logger.error({ consumer, eventId: id, type, correlationId: correlationid, err: error }, 'dead letter'),
  });
  const backing = {
    clock,
    logger,
    registry,
    storage,
    bus,
    events: bus,
    tickets: new InMemoryTickets({ clock, outbox: bus }),
    // What it seals lives in this process's memory alone, so its key does too.
    sealer: createSealer([{ id: 'process', key: randomBytes(32) }]),
    tokens: createAccessTokenVerifier({
      issuers: issuerPolicies(registry, { publicUrl, audience, identityProviderUrl: `${platformUrl}/idp` }),
      clock,
    }),
  };

  /** The edge map: services see their whole path, but for the identity provider, whose prefix is removed. */
  const mounts: { path: string; service: Service }[] = [
    { path: '/idp', service: identityProvider(configs.identityProvider, backing) },
    { path: '/', service: launchApi(configs.launchApi, backing) },
    { path: '/', service: launchGateway(configs.launchGateway, backing) },
    { path: '/', service: ordering(configs.ordering, backing) },
    { path: '/', service: orderRenderer(configs.orderRenderer, backing) },
    { path: '/', service: auditTrail(configs.launchApi, backing) },
    { path: '/', service: pmsSimulator({ publicUrl, platformUrl }, backing) },
  ];
  const services = mounts.map(({ service }) => service);
  for (const service of services) {
    for (const consumer of service.consumers ?? []) await bus.consume(consumer);
    await service.start?.();
  }
  return {
    mounts,
    checks: { storage: () => storage.isReady() },
    async stop() {
      for (const service of services.toReversed()) await service.stop?.();
      await bus.stop();
      await storage.close();
    },
  };
}

/** Reads every service's configuration; the problems of all of them are told together. */
function readConfigs(environment: Environment) {
  return readTogether({
    identityProvider: () => readIdentityProviderConfig(environment),
    launchApi: () => readLaunchApiConfig(environment),
    launchGateway: () => readLaunchGatewayConfig(environment),
    ordering: () => readOrderingConfig(environment),
    orderRenderer: () => readOrderRendererConfig(environment),
  });
}
