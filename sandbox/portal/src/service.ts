import { fileURLToPath } from 'node:url';
import { createAttribution } from '@clinical-launch/conformance/attribution';
import { createConformanceRuns, type DesktopLaunches } from '@clinical-launch/conformance/runs';
import { serveAssets } from '@clinical-launch/pages/templates';
import type { Service } from '@clinical-launch/process/service';
import type { DeveloperPortalConfig } from './config.ts';
import { launchBuilder } from './http/build-launch.ts';
import { callbacks } from './http/callbacks.ts';
import { createProxies, type ProxiesOptions, proxyPath } from './http/client-proxy.ts';
import { conformanceRuns, statements } from './http/conformance-runs.ts';
import { documentPages, home, pageNotFound } from './http/documents.ts';
import { createForwarding, createReceivers } from './http/forward-callback.ts';
import { createPortal, type DeveloperPortalDependencies, type Developers } from './http/portal.ts';
import { inspector } from './http/requests.ts';
import { payloadChecker } from './http/send-payload.ts';
import { signIn } from './http/sign-in.ts';
import { createRecordedRequests } from './store/recorded-requests.ts';

type ExchangesOptions = Omit<ProxiesOptions, 'runs' | 'requests'> & {
  /** Without it, partner applications have no conformance runs. */
  readonly desktop?: DesktopLaunches;
};

/**
 * Creates the endpoints of the exchanges of clients, which the portal and the twin share: their requests,
 * faults, conformance runs and callbacks, and their base addresses. Stores everything in memory.
 */
export function exchangeEndpoints(developers: Developers, { desktop, ...options }: ExchangesOptions) {
  const requests = createRecordedRequests();
  const forwarding = createForwarding(developers);
  const runs = createConformanceRuns({
    clock: options.clock,
    receiverOf: createReceivers(developers, forwarding),
    ...(desktop && { desktop }),
  });
  const { serve, forward } = createProxies(developers, { ...options, runs, requests });
  return {
    runs,
    /** Forwards a request that is not at the base address of a client. */
    forward,
    endpoints: [
      ...inspector(developers, { runs, requests }),
      ...conformanceRuns(developers, runs),
      ...callbacks(developers, { forwarding, runs }),
    ],
    below: [{ path: proxyPath, serve }],
  };
}

/**
 * Creates the developer portal: the pages below `/developers/` for developers of sandbox clients. Stores
 * sessions, requests, callbacks and runs in memory, so only one replica may run.
 */
export function developerPortal(
  config: DeveloperPortalConfig,
  dependencies: DeveloperPortalDependencies,
): Service {
  const portal = createPortal(config, dependencies);
  const { tokens, clock, cookieName } = portal;
  const { runs, endpoints, below } = exchangeEndpoints(portal, {
    clock,
    cookieName,
    attribution: createAttribution((authorization) =>
      tokens.verify(authorization).then(
        ({ clientId }) => clientId,
        () => undefined,
      ),
    ),
  });
  return {
    name: 'developer-portal',
    endpoints: [
      ...home(portal),
      ...signIn(portal),
      ...endpoints,
      ...statements(portal, runs),
      payloadChecker(portal),
      ...launchBuilder(portal),
      ...documentPages(portal),
    ],
    edges: [{ path: '/developers', dialect: portal.dialect, notFound: pageNotFound }],
    below: [
      ...below,
      {
        path: '/developers/assets',
        serve: serveAssets(fileURLToPath(new URL('../public', import.meta.url))),
      },
    ],
  };
}
