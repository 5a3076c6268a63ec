import { fileURLToPath } from 'node:url';
import { createConformanceRuns } from '@clinical-launch/conformance/runs';
import { serveAssets } from '@clinical-launch/pages/templates';
import type { Service } from '@clinical-launch/process/service';
import type { DeveloperPortalConfig } from './config.ts';
import { launchBuilder } from './http/build-launch.ts';
import { callbacks } from './http/callbacks.ts';
import { clientProxies, proxyPath } from './http/client-proxy.ts';
import { conformanceRuns } from './http/conformance-runs.ts';
import { documentPages, home } from './http/documents.ts';
import { createForwarding, createReceivers } from './http/forward-callback.ts';
import { createPortal, type DeveloperPortalDependencies } from './http/portal.ts';
import { inspector } from './http/requests.ts';
import { payloadChecker } from './http/send-payload.ts';
import { signIn } from './http/sign-in.ts';
import { createCallbacks } from './store/callbacks.ts';
import { createListeners } from './store/listeners.ts';
import { createRecordedRequests } from './store/recorded-requests.ts';
import { createSessions } from './store/sessions.ts';

/**
 * Creates the developer portal: the pages below `/developers/` for developers of sandbox clients. Stores
 * sessions, requests, callbacks and runs in memory, so only one replica may run.
 */
export function developerPortal(
  config: DeveloperPortalConfig,
  dependencies: DeveloperPortalDependencies,
): Service {
  const portal = createPortal(config, {
    ...dependencies,
    sessions: createSessions(dependencies.clock),
    callbacks: createCallbacks(),
    listeners: createListeners(),
  });
  const requests = createRecordedRequests();
  const forwarding = createForwarding(portal);
  const runs = createConformanceRuns({
    clock: dependencies.clock,
    receiverOf: createReceivers(portal, forwarding),
  });
  return {
    name: 'developer-portal',
    endpoints: [
      ...home(portal),
      ...signIn(portal),
      ...inspector(portal, { runs, requests }),
      ...conformanceRuns(portal, runs),
      payloadChecker(portal),
      ...launchBuilder(portal),
      ...callbacks(portal, forwarding),
      ...documentPages(portal),
    ],
    below: [
      { path: proxyPath, serve: clientProxies(portal, { runs, requests }) },
      {
        path: '/developers/assets',
        serve: serveAssets(fileURLToPath(new URL('../public', import.meta.url))),
      },
    ],
  };
}
