import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { endpoint } from '@clinical-launch/http/endpoint';
import type { ServiceError } from '@clinical-launch/http/errors';
import { countLaunchRefusals } from '@clinical-launch/http/launch-refusals';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { LaunchGatewayConfig } from './config.ts';
import { launchDialect } from './http/error-page.ts';
import { auditRefusal, secureLaunch } from './http/secure-launch.ts';

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
        isNewLaunch: true,
        audit: auditRefusal,
        onRefused: launches.refused,
      }),
    ],
  };
}

/** Counts opened and refused launches, and records the time until a launch was opened. */
type LaunchMeter = {
  readonly opened: (launch: LaunchContext) => void;
  /** Counts a refused launch, without the client, because the client is not verified. */
  readonly refused: (error: ServiceError) => void;
};

function createLaunchMeter(clock: Clock): LaunchMeter {
  const meter = getMeter();
  const redeemed = meter.createCounter('clinical_launch.launches.redeemed', {
    description: 'Launch URLs that were opened',
    unit: '{launch}',
  });
  const wait = meter.createHistogram('clinical_launch.launch.wait', {
    description: 'Time from the issue of a launch URL until it was opened',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
  });
  const countRefusal = countLaunchRefusals('open');
  return {
    opened({ client: { clientId }, issuedAt }) {
      redeemed.add(1, { 'clinical_launch.client.id': clientId });
      // The clock of the launch API may be ahead, so the difference could be negative.
      wait.record(Math.max(0, clock.now() - issuedAt) / 1000);
    },
    refused: (error) => countRefusal(error),
  };
}
