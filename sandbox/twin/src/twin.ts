import type { IncomingMessage, RequestListener } from 'node:http';
import { type Attribution, createAttribution } from '@clinical-launch/conformance/attribution';
import { createClientProxies } from '@clinical-launch/conformance/client-proxies';
import { createRecorder } from '@clinical-launch/conformance/recorder';
import { createRecordingProxy } from '@clinical-launch/conformance/recording-proxy';
import {
  type ConformanceRuns,
  createConformanceRuns,
  type DesktopLaunches,
} from '@clinical-launch/conformance/runs';
import { isLoopback } from '@clinical-launch/contracts/addresses';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createApp } from '@clinical-launch/http/app';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { listenLocally } from '@clinical-launch/platform/https';
import { startPlatform } from '@clinical-launch/platform/platform';
import { demoRegistry } from '@clinical-launch/platform/sandbox';
import { type Clock, systemClock } from '@clinical-launch/runtime/clock';
import { ConfigurationError, type Environment, isProduction } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { createHostClient, type HostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { readPlatformNames } from '@clinical-launch/simulators/platform-names';
import { getPatient, records } from '@clinical-launch/simulators/records';
import { conformanceEndpoints } from './conformance-endpoints.ts';
import { MovableClock, moveClock } from './movable-clock.ts';
import { callbackSecretOf, clientIdsIn, type VendorClient, writeRegistry } from './vendor-client.ts';

export type TwinOptions = {
  /** The port, or 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** The port of HTTPS. By default, the twin has no HTTPS. */
  readonly httpsPort?: number | undefined;
  /** The origin at which browsers and backends reach the twin. By default, `localhost` and the port. */
  readonly publicUrl?: string;
  /** By default, the registry of the demo. */
  readonly registryFile?: string;
  readonly client?: VendorClient;
  readonly logger: Logger;
  /**
   * Measures conformance runs. By default, the machine's clock, because the clock of the twin can move while
   * a client waits.
   */
  readonly runClock?: Clock;
  /** The delay of the fault `slow` in milliseconds. By default, ten seconds. */
  readonly slowMs?: number;
  /** Only `NODE_ENV` is read. Other variables, such as `DATABASE_URL`, belong to the vendor's product. */
  readonly environment: Environment;
};

export type Twin = {
  /** The address that browsers and backends use. */
  readonly url: string;
  /** The path of the certificate to trust, with `httpsPort`. */
  readonly certificate: string | undefined;
  readonly runs: ConformanceRuns;
  /** Finishes open requests, then stops the platform. Its data is lost. */
  stop(): Promise<void>;
};

/**
 * Starts the whole platform with embedded parts on a private port, and in front of it a listener with the
 * clock of the twin.
 * @throws ConfigurationError in production mode, and if an option is invalid
 */
export async function startTwin(options: TwinOptions): Promise<Twin> {
  const { logger, environment, client, runClock = systemClock } = options;
  if (isProduction(environment))
    throw new ConfigurationError(['NODE_ENV must not be production. The secrets of the twin are public']);
  let answer: RequestListener = startingUp;
  const server = await listenLocally((request, response) => answer(request, response), options);
  const publicUrl = options.publicUrl ?? server.url;
  const registry = client && writeRegistry(options.registryFile ?? demoRegistry, client);
  try {
    const clock = new MovableClock();
    const platform = await startPlatform({
      environment: {
        PORT: '0',
        HOST: '127.0.0.1',
        PUBLIC_URL: publicUrl,
        // The requests of the demo's clients also pass through the proxy, so that they can be judged.
        PLATFORM_URL: `http://127.0.0.1:${server.port}`,
        TRUSTED_PROXIES: '1',
        REGISTRY_FILE: registry?.path ?? options.registryFile,
        LAUNCH_TOKEN_SECONDS: environment.LAUNCH_TOKEN_SECONDS,
      },
      clock,
      logger,
    });
    const platformUrl = platform.localUrl;
    const host = createHostClient({
      config: { publicUrl, platformUrl, names: readPlatformNames({}) },
      clock,
      recorder: createRecorder(clock),
    });
    const { runs, recording } = createTwinRuns({ client, host, clock: runClock });
    const control = createApp({
      mounts: [{ path: '/', service: { endpoints: [moveClock(clock), ...conformanceEndpoints(runs)] } }],
      logger,
      clock,
      isProduction: false,
    });
    const clientIds = clientIdsIn(registry?.path ?? options.registryFile ?? demoRegistry);
    const proxies = createProxies(clientIds, {
      target: new URL(platformUrl),
      publicUrl: new URL(publicUrl),
      ...recording,
      ...withoutUndefined({ slowMs: options.slowMs }),
    });
    answer = chooseBy(publicUrl, { control, ...proxies });
    return {
      url: platform.publicUrl,
      certificate: server.certificate,
      runs,
      async stop() {
        await server.stop();
        await platform.stop();
        registry?.remove();
      },
    };
  } catch (error) {
    await server.stop();
    registry?.remove();
    throw error;
  }
}

const startingUp: RequestListener = (_request, response) => {
  response.writeHead(503, { 'Retry-After': '1' }).end();
};

const clientsPath = '/api';

const createProxies = (
  clientIds: readonly string[],
  options: Parameters<typeof createRecordingProxy>[0],
) => ({
  forward: createRecordingProxy(options),
  ofClients: createClientProxies({
    path: clientsPath,
    clientIds: () => clientIds,
    proxyOf: (_, basePath) =>
      createRecordingProxy({ ...options, baseAddress: `${options.publicUrl.origin}${basePath}` }),
  }),
});

/**
 * Answers the requests for the twin itself, and forwards all others to the platform, those at the base
 * address of a client with its proxy.
 */
const chooseBy =
  (
    publicUrl: string,
    { control, ofClients, forward }: Readonly<Record<'control' | 'ofClients' | 'forward', RequestListener>>,
  ) =>
  (...[request, response]: Parameters<RequestListener>): void => {
    if (request.url?.startsWith(`${clientsPath}/`)) {
      request.url = request.url.slice(clientsPath.length);
      return ofClients(request, response);
    }
    if (!isForTwin(request)) return forward(request, response);
    if (isForeign(request, publicUrl)) return void response.writeHead(403).end();
    control(request, response);
  };

/**
 * Returns whether a page of another site may have sent the request. It has an Origin, or names a host that was
 * made to resolve to this machine (DNS rebinding).
 */
function isForeign({ method, headers: { origin, host } }: IncomingMessage, publicUrl: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  const isOwn = isLoopback(name) || name === new URL(publicUrl).hostname;
  return !isOwn || (method !== 'GET' && method !== 'OPTIONS' && origin !== undefined);
}

const isForTwin = ({ url = '' }: IncomingMessage) =>
  /^\/(?:clock|faults|keys|messages|runs)(?:[/?]|$)/.test(url);

type Dependencies = {
  readonly client?: VendorClient | undefined;
  readonly host: HostClient;
  readonly clock: Clock;
};

/**
 * Creates the conformance runs of a twin, and the parts of its recording proxy. Only the vendor's client has
 * an address for messages.
 */
function createTwinRuns({ client, host, clock }: Dependencies) {
  const attribution = createAttribution();
  const send = createOutboundFetch({ allowedNetworks: [], timeoutMs: 15_000 });
  const runs = createConformanceRuns({
    clock,
    receiverOf(clientId) {
      const address = client?.clientId === clientId ? client.callbackUrl : undefined;
      if (address === undefined) return undefined;
      return {
        address,
        secret: callbackSecretOf(clientId),
        post: ({ headers, body }) =>
          send(new URL(address), { method: 'POST', isOperators: true, headers, body }).then(
            ({ status }) => status,
            () => 0,
          ),
      };
    },
    desktop: desktopOf(host, attribution),
  });
  return { runs, recording: { attribution, clock, watch: runs.watch } };
}

const desktopOf = (host: HostClient, attribution: Attribution): DesktopLaunches => ({
  async create(clientId) {
    const patient = getPatient(null);
    const { authorizations } = records.host;
    const { launchUrl, correlationId } = await host.requestLaunch({ clientId, patient, authorizations });
    const launchId = correlationId;
    attribution.assign(new URL(launchUrl).searchParams.get('launch'), { clientId, launchId });
    return { launchUrl, launchId };
  },
  end: (launchId) => host.endLaunch(launchId),
});
