import { directEndpoint, openToAll } from '@clinical-launch/http/exchange';
import { createRouter } from '@clinical-launch/http/router';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { LaunchGatewayConfig } from './config.ts';
import { launchDialect } from './http/error-page.ts';
import { auditRefusal, secureLaunch } from './http/secure-launch.ts';
import { createLaunchMeter } from './metrics.ts';

export type LaunchGatewayDependencies = { readonly tickets: Tickets; readonly clock: Clock };

/**
 * Creates the launch gateway, which exchanges a launch token for a launch session, once. Answers at
 * `/secureLaunch`.
 */
export function launchGateway(
  config: LaunchGatewayConfig,
  { tickets, clock }: LaunchGatewayDependencies,
): Service {
  const path = '/secureLaunch';
  const launches = createLaunchMeter(clock);
  const launch = launches.countingRefusals(secureLaunch(config, tickets, launches.opened));
  const handler = directEndpoint({
    source: '/launch-gateway',
    dialect: launchDialect(config),
    audit: auditRefusal,
    open: openToAll,
    methods: { GET: launch, POST: launch },
  });
  const router = createRouter();
  router.all(path, handler);
  return { name: 'launch-gateway', router, direct: [{ method: 'GET', path, answer: handler.direct }] };
}
