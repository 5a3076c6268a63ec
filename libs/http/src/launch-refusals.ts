import { meter } from '@clinical-launch/runtime/metrics';
import { codeOfRefusal } from './errors.ts';
import type { Handler } from './exchange.ts';

type LaunchStep<Exchange> = {
  /** At the request of the launch URL, or when it was opened. */
  readonly step: 'request' | 'open';
  /** The client of the registry, if it is proven. */
  readonly clientOf?: (exchange: Exchange) => string | undefined;
};

/**
 * Returns what makes a handler count its refusals as `clinical_launch.launches.refused`, by client, by the
 * reason of the catalogue and by the step of the launch. Call it once the process measures.
 */
export function countLaunchRefusals<Exchange>({ step, clientOf }: LaunchStep<Exchange>) {
  const refused = meter().createCounter('clinical_launch.launches.refused', {
    description: 'Launches that were refused, at the request of the launch URL or when it was opened',
    unit: '{launch}',
  });
  return (handle: Handler<Exchange>): Handler<Exchange> =>
    async (exchange) => {
      try {
        await handle(exchange);
      } catch (error) {
        refused.add(1, {
          'clinical_launch.client.id': clientOf?.(exchange) ?? 'unknown',
          'clinical_launch.refusal.reason': codeOfRefusal(error),
          'clinical_launch.refusal.step': step,
        });
        throw error;
      }
    };
}
