import { endpoint } from '@clinical-launch/http/endpoint';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { LaunchGatewayConfig } from './config.ts';
import { launchDialect } from './http/error-page.ts';
import { auditRefusal, secureLaunch } from './http/secure-launch.ts';
import { createLaunchMeter } from './metrics.ts';

export type LaunchGatewayDependencies = { readonly tickets: Tickets; readonly clock: Clock };

/**
 * Creates the launch gateway, which exchanges each launch token for a launch session once. It has the
 * endpoint `/secureLaunch`.
 */
export function launchGateway(
  config: LaunchGatewayConfig,
  { tickets, clock }: LaunchGatewayDependencies,
): Service {
  const launches = createLaunchMeter(clock);
  const launch = secureLaunch(config, tickets, launches.opened);
  return {
    name: 'launch-gateway',
    endpoints: [
      endpoint({
        path: '/secureLaunch',
        source: '/launch-gateway',
        dialect: launchDialect(config),
        methods: { GET: launch, POST: launch },
        audit: auditRefusal,
        onRefused: launches.refused,
      }),
    ],
  };
}
