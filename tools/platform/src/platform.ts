import type { RequestListener } from 'node:http';
import { readAuditTrailConfig } from '@clinical-launch/audit-trail/config';
import { auditTrail } from '@clinical-launch/audit-trail/service';
import { sealingPurposes } from '@clinical-launch/crypto/sealing-purposes';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { readAllowedNetworks } from '@clinical-launch/http/outbound-settings';
import { createAdminApp, listen, type RunningServer } from '@clinical-launch/http/server';
import { readIdentityProviderConfig } from '@clinical-launch/identity-provider/config';
import { identityProvider } from '@clinical-launch/identity-provider/service';
import { readLaunchApiConfig } from '@clinical-launch/launch-api/config';
import { launchApi } from '@clinical-launch/launch-api/service';
import { readLaunchGatewayConfig } from '@clinical-launch/launch-gateway/config';
import { launchGateway } from '@clinical-launch/launch-gateway/service';
import { readOrderRendererConfig } from '@clinical-launch/order-renderer/config';
import { orderRenderer } from '@clinical-launch/order-renderer/service';
import { readOrderingConfig } from '@clinical-launch/ordering/config';
import { ordering } from '@clinical-launch/ordering/service';
import { readSharedEventKeys } from '@clinical-launch/process/event-keys';
import { openRevocationsPart } from '@clinical-launch/process/revocations-part';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { type Mount, startServices } from '@clinical-launch/process/service';
import { readResourceApiConfig } from '@clinical-launch/resource-api/config';
import { resourceApi } from '@clinical-launch/resource-api/service';
import { type Clock, systemClock } from '@clinical-launch/runtime/clock';
import {
  assertPublicAddresses,
  type Environment,
  isProduction,
  readTogether,
} from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { createFollowingVerifier } from '@clinical-launch/trust/access-tokens';
import { openDirectories, readDirectories } from '@clinical-launch/trust/directory-file';
import { desktopIssuerPolicies, issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { watchRegistry } from '@clinical-launch/trust/registry-file';
import { checkRegistryFile } from '@clinical-launch/trust/trust';
import { assertFitForProduction, readDemoConfig } from './config.ts';
import { listenLocally } from './https.ts';
import { chooseBus, chooseStorage, chooseTicketParts } from './parts.ts';
import { loadSandbox, type Sandbox } from './sandbox.ts';

export type Platform = {
  /** The address that browsers and backends use. */
  readonly publicUrl: string;
  /** The address on this machine, for a reverse proxy in front. */
  readonly localUrl: string;
  readonly adminUrl: string;
  /** The path of the certificate to trust, with `HTTPS_PORT`. */
  readonly certificate: string | undefined;
  /** Finishes open requests, then stops all parts in reverse order. */
  stop(): Promise<void>;
};

type PlatformOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Answers `/metrics` at the admin address. Without it, `/metrics` does not exist. */
  readonly answerMetrics?: RequestListener;
};

/**
 * Starts the whole platform in this process, with the routes of the edge and the simulators. If `REDIS_URL`,
 * `AMQP_URL` or `DATABASE_URL` is not set, uses an embedded replacement, whose data is lost when the process
 * ends.
 * @throws TypeError listing every fault of the configuration
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { environment, clock, logger, answerMetrics } = options;
  let answer: RequestListener = startingUp;
  const sandbox = await loadSandbox(environment);
  const { demo } = readTogether({
    demo: () => readDemoConfig(environment),
    production: () => assertFitForProduction(environment),
    addresses: () => assertPublicAddresses(environment),
    registry: () => checkRegistry(environment),
    directories: () => readDirectories(environment),
    networks: () => readAllowedNetworks(environment),
    // The following settings are read again later. Reading them here reports invalid settings before a port
    // is opened.
    sealers: () => openEverySealer(environment),
    eventKeys: () => readSharedEventKeys(environment),
    services: () =>
      readConfigs({ ...environment, PUBLIC_URL: environment.PUBLIC_URL || 'http://localhost' }, sandbox),
  });
  const server = await listenLocally((request, response) => answer(request, response), { ...demo, logger });
  try {
    const publicUrl = demo.publicUrl ?? server.url;
    const platformUrl = `http://127.0.0.1:${server.port}`;
    const parts = await openParts({
      environment,
      configs: readConfigs({ ...reachingItself(environment, platformUrl), PUBLIC_URL: publicUrl }, sandbox),
      sandbox,
      registryFile: demo.registryFile,
      trustedProxies: demo.trustedProxies,
      platformUrl,
      clock,
      logger,
    });
    const admin = await listen(createAdminApp(parts.checks, answerMetrics), {
      port: demo.adminPort,
      host: '127.0.0.1',
      logger,
    });
    answer = parts.listener;
    return {
      publicUrl,
      localUrl: platformUrl,
      adminUrl: `http://127.0.0.1:${admin.port}`,
      certificate: server.certificate,
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

type PartsOptions = PlatformOptions & {
  readonly configs: ReturnType<typeof readConfigs>;
  readonly sandbox: Sandbox;
  readonly registryFile: string | URL;
  /** The address at which this process calls itself. */
  readonly platformUrl: string;
  readonly trustedProxies: number;
};

async function openParts(options: PartsOptions) {
  const { environment, configs, trustedProxies, clock, logger } = options;
  const parts = await connectParts(options);
  const { bus } = parts.dependencies;
  const services = await startServices({
    mounts: await createMounts(options, parts),
    bus,
    logger,
    clock,
    isProduction: isProduction(environment),
    trustedProxies,
    publicUrl: configs.identityProvider.publicUrl,
    refusals: parts.refusals,
  });
  const relay = parts.startRelay();
  return {
    listener: services.listener,
    checks: parts.checks,
    stop: () => stopAll([services, relay, parts]),
  };
}

async function connectParts({
  environment,
  configs,
  registryFile,
  platformUrl,
  clock,
  logger,
}: PartsOptions) {
  const { publicUrl, audience } = configs.identityProvider;
  const options = {
    environment,
    clock,
    logger,
    eventKeys: readSharedEventKeys(environment),
    name: 'clinical-launch',
  };
  const sharedFile = readDirectories(environment);
  const directories = openDirectories({ sharedFile, registryFile, publicUrl, logger });
  const registry = watchRegistry(registryFile, {
    publicUrl,
    logger,
    isProduction: isProduction(environment),
    check: (next) => directories.follow(next),
  });
  const sealers = openEverySealer(environment);
  const storagePart = await chooseStorage(options);
  const busPart = await chooseBus(options);
  const { bus } = busPart;
  const ticketParts = await chooseTicketParts({ ...options, bus, sealers, requiresCompleteClaims: true });
  // The list is polled in real time, so its age counts in real time, even if a test moves the clock.
  const revocationsPart = await openRevocationsPart(ticketParts.dependencies, { clock: systemClock, logger });
  const fetchOutbound = createOutboundFetch({ allowedNetworks: readAllowedNetworks(environment) });
  const trust = { publicUrl, audience, identityProviderUrl: `${platformUrl}/idp` };
  const verifierOf = (policies: typeof issuerPolicies) =>
    createFollowingVerifier(registry, {
      clock,
      logger,
      revocations: revocationsPart.revocations,
      policiesOf: (current) => policies(current, trust),
      fetchOutbound,
    });
  const { storage } = storagePart;
  const own = { clock, logger, registry, directories, sealers, bus, storage, fetchOutbound };
  return {
    dependencies: { ...own, ...ticketParts.dependencies, tokens: verifierOf(issuerPolicies) },
    desktopTokens: verifierOf(desktopIssuerPolicies),
    refusals: ticketParts.refusals,
    checks: { ...storagePart.checks, ...ticketParts.checks, ...revocationsPart.checks },
    startRelay: ticketParts.startRelay,
    async stop() {
      registry.stop();
      directories.stop();
      await stopAll([revocationsPart, ticketParts, busPart, storagePart]);
    },
  };
}

/**
 * Creates the services and their routes. Only the prefix of the identity provider is removed from request
 * paths.
 */
async function createMounts(
  { configs, sandbox: { portal, demo }, platformUrl }: PartsOptions,
  { dependencies, desktopTokens }: Awaited<ReturnType<typeof connectParts>>,
): Promise<Mount[]> {
  const { publicUrl, audience } = configs.identityProvider;
  const reached = configs.orderRenderer.callbacks.platformUrl ?? platformUrl;
  const { namespaces } = configs.launchApi;
  const services = [
    launchApi(configs.launchApi, dependencies),
    launchGateway(configs.launchGateway, dependencies),
    await ordering(configs.ordering, dependencies),
    await orderRenderer(configs.orderRenderer, dependencies),
    await auditTrail(configs.auditTrail, dependencies),
    resourceApi(configs.resourceApi, { ...dependencies, tokens: desktopTokens }),
    configs.developerPortal && portal?.developerPortal(configs.developerPortal, dependencies),
    demo?.simulators(
      { publicUrl, platformUrl: reached, names: demo.platformNamesOf({ audience, namespaces }) },
      dependencies,
    ),
  ];
  return [
    { path: '/idp', service: await identityProvider(configs.identityProvider, dependencies) },
    ...services.filter((service) => service !== undefined).map((service) => ({ path: '/', service })),
  ];
}

function checkRegistry(environment: Environment): void {
  const { REGISTRY_FILE: path, PUBLIC_URL: publicUrl } = environment;
  if (path) checkRegistryFile(environment, { path, publicUrl: publicUrl || 'http://localhost' });
}

/**
 * Returns the environment. Outside production, `PLATFORM_URL` is by default the address of this process, so
 * that documents are posted to its simulators.
 */
function reachingItself(environment: Environment, platformUrl: string): Environment {
  return isProduction(environment) ? environment : { PLATFORM_URL: platformUrl, ...environment };
}

const openEverySealer = (environment: Environment) =>
  openSealers(environment, sealingPurposes, { acceptsShared: true });

function readConfigs(environment: Environment, { portal }: Sandbox) {
  return readTogether({
    identityProvider: () => readIdentityProviderConfig(environment),
    launchApi: () => readLaunchApiConfig(environment),
    auditTrail: () => readAuditTrailConfig(environment),
    launchGateway: () => readLaunchGatewayConfig(environment),
    ordering: () => readOrderingConfig(environment),
    orderRenderer: () => readOrderRendererConfig(environment),
    resourceApi: () => readResourceApiConfig(environment),
    developerPortal: () => portal?.readDeveloperPortalConfig(environment),
  });
}
