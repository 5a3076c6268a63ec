import { meter } from '@clinical-launch/runtime/metrics';
import type { ServiceError } from './errors.ts';

/**
 * Creates the metric counter `clinical_launch.launches.refused`, and returns the function that increments it.
 * The attributes of the counter are the client, the refusal code and the step of the launch: `request` of the
 * launch URL, or `open`. Call this function after metrics have started. The counter ignores 405 answers,
 * because a request with another method is not a launch.
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
