import type { IncomingMessage, RequestListener } from 'node:http';
import { type Attribution, createAttribution } from '@clinical-launch/conformance/attribution';
import { createRecorder } from '@clinical-launch/conformance/recorder';
import type { ConformanceRuns, DesktopLaunches } from '@clinical-launch/conformance/runs';
import { isLoopback } from '@clinical-launch/contracts/addresses';
import { createPurposeSealer, demoSealingKey } from '@clinical-launch/crypto/sealing-purposes';
import { createApp } from '@clinical-launch/http/app';
import { textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { queryOf } from '@clinical-launch/http/request-target';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { listenLocally } from '@clinical-launch/platform/https';
import { startPlatform } from '@clinical-launch/platform/platform';
import { demoRegistry } from '@clinical-launch/platform/sandbox';
import { clientsOf, type SandboxClient } from '@clinical-launch/portal/domain/sandbox-clients';
import { proxyPath } from '@clinical-launch/portal/http/client-proxy';
import { type ClientVisit, createDevelopers } from '@clinical-launch/portal/http/portal';
import { exchangeEndpoints } from '@clinical-launch/portal/service';
import { type Clock, systemClock } from '@clinical-launch/runtime/clock';
import { ConfigurationError, type Environment, isProduction } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { createHostClient, type HostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { readPlatformNames } from '@clinical-launch/simulators/platform-names';
import { getPatient, records } from '@clinical-launch/simulators/records';
import { readRegistryFile } from '@clinical-launch/trust/registry-file';
import { MovableClock, moveClock, rotateKeys } from './control.ts';
import { type VendorClient, writeRegistry } from './vendor-client.ts';

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
    const registryFile = registry?.path ?? options.registryFile;
    const platform = await startPlatform({
      environment: {
        PORT: '0',
        HOST: '127.0.0.1',
        PUBLIC_URL: publicUrl,
        // The requests of the demo's clients also pass through the proxy, so that they can be judged.
        PLATFORM_URL: `http://127.0.0.1:${server.port}`,
        TRUSTED_PROXIES: '1',
        REGISTRY_FILE: registryFile,
        LAUNCH_TOKEN_SECONDS: environment.LAUNCH_TOKEN_SECONDS,
      },
      clock,
      logger,
    });
    const clients = clientsOf(readRegistryFile(registryFile ?? demoRegistry, { publicUrl }));
    const { publicUrl: url, localUrl: platformUrl } = platform;
    const { runs, ...front } = createFront(clients, { ...options, publicUrl, platformUrl, clock, runClock });
    answer = front.answer;
    return {
      url,
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

/**
 * The addresses that the twin answers without a sign-in. All others are those of the platform, also the other
 * pages of its developer portal.
 */
const isForTwin = /^\/(?:clock|keys|developers\/(?:api|callbacks|faults|requests|runs))(?:[/?]|$)/;

/**
 * Returns whether a page of another site may have sent the request. The page sends a form, or names a host that
 * was made to resolve to this machine (DNS rebinding).
 */
function isForeign(request: IncomingMessage, publicUrl: string): boolean {
  const { method, headers } = request;
  const name = URL.parse(`http://${headers.host}`)?.hostname ?? '';
  const isOwn = isLoopback(name) || name === new URL(publicUrl).hostname;
  return !isOwn || (method === 'POST' && !isOwnForm(request, publicUrl));
}

type FrontOptions = Pick<TwinOptions, 'client' | 'slowMs' | 'logger'> &
  Readonly<Record<'publicUrl' | 'platformUrl', string>> & {
    readonly clock: MovableClock;
    readonly runClock: Clock;
  };

/**
 * Creates the listener in front of the platform. The parameter `client` names the client of a request. By
 * default, it is the client of the run in the path, or the vendor's client, or the first sandbox client.
 */
function createFront(
  clients: ReadonlyMap<string, SandboxClient>,
  { client, slowMs, logger, publicUrl, platformUrl, clock, runClock }: FrontOptions,
) {
  const attribution = createAttribution();
  const [usual] = [...clients.values()].filter(({ policy }) => policy.sandbox === true);
  const developers = createDevelopers({
    // The vendor's system is on the same machine or in its network.
    config: { publicUrl, platformUrl, allowedNetworks: ['0.0.0.0/0', '::/0'], isProduction: false },
    clock,
    clients: () => clients,
    sealers: { callback: createPurposeSealer('callback', [demoSealingKey]) },
    identify(exchange): ClientVisit {
      const named = queryOf(exchange.request).get('client');
      const run = runs.find(textParameter(exchange, 'id'));
      const found = clients.get(named ?? run?.clientId ?? client?.clientId ?? usual?.clientId ?? '');
      if (found !== undefined) return { ...exchange, client: found };
      const message = 'Name a client of the registry in the parameter client';
      throw new ServiceError({ code: 'not_found', message });
    },
  });
  if (client?.callbackUrl !== undefined) developers.callbacks.setAddress(client.clientId, client.callbackUrl);
  const names = readPlatformNames({});
  const host = createHostClient({
    config: { publicUrl, platformUrl, names },
    clock,
    recorder: createRecorder(clock),
  });
  const desktop = desktopOf(host, attribution);
  const exchanges = exchangeEndpoints(developers, { attribution, clock: runClock, desktop, slowMs });
  const runs: ConformanceRuns = exchanges.runs;
  const endpoints = [moveClock(clock), rotateKeys(runs), ...exchanges.endpoints];
  const control = createApp({
    mounts: [{ path: '/', service: { endpoints, below: exchanges.below } }],
    logger,
    clock,
    isProduction: false,
  });
  const answer: RequestListener = (request, response) => {
    const { url = '' } = request;
    if (!isForTwin.test(url)) return exchanges.forward(request, response);
    const isProxied = url.startsWith(`${proxyPath}/`);
    if (!isProxied && isForeign(request, publicUrl)) return void response.writeHead(403).end();
    control(request, response);
  };
  return { answer, runs };
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
