import { meter } from '@clinical-launch/runtime/metrics';
import type { ServiceError } from './errors.ts';

/**
 * Creates the counter `clinical_launch.launches.refused`, by client, by the reason of the catalogue and by
 * the step of the launch: `request` of the launch URL, or `open`. Create it after metrics have started. A
 * request with another method is not a launch, so a 405 does not count.
 */
export function countLaunchRefusals(step: 'request' | 'open') {
  const refused = meter().createCounter('clinical_launch.launches.refused', {
    description: 'Launches that were refused, at the request of the launch URL or when it was opened',
    unit: '{launch}',
  });
  return ({ status, code }: ServiceError, clientId = 'unknown'): void => {
    if (status === 405) return;
    refused.add(1, {
      'clinical_launch.client.id': clientId,
      'clinical_launch.refusal.reason': code,
      'clinical_launch.refusal.step': step,
    });
  };
}
