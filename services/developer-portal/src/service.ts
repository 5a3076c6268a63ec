import { fileURLToPath } from 'node:url';
import { serveAssets } from '@clinical-launch/pages/templates';
import type { Service } from '@clinical-launch/process/service';
import type { DeveloperPortalConfig } from './config.ts';
import { home } from './http/home.ts';
import { createPortal, type DeveloperPortalDependencies } from './http/portal.ts';
import { signIn } from './http/sign-in.ts';
import { createSessions } from './store/sessions.ts';

/**
 * Creates the developer portal: the pages below `/developers/`, for developers of sandbox clients. It keeps
 * sessions and recorded requests in memory, so one replica runs.
 */
export function developerPortal(
  config: DeveloperPortalConfig,
  dependencies: DeveloperPortalDependencies,
): Service {
  const sessions = createSessions(dependencies.clock);
  const portal = createPortal(config, { ...dependencies, sessions });
  return {
    name: 'developer-portal',
    endpoints: [home(portal), ...signIn(portal)],
    below: [
      {
        path: '/developers/assets',
        serve: serveAssets(fileURLToPath(new URL('../public', import.meta.url))),
      },
    ],
  };
}
