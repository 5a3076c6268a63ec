import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { meter } from '@clinical-launch/runtime/metrics';
import type { ServiceError } from './errors.ts';

export type RefusedRequest = {
  /** The audit event of the refusal, if the refusal must be audited. */
  readonly event: CloudEvent<RefusalType> | undefined;
  readonly address: string | undefined;
  /** The verified caller. Its refusals are not counted for its address. */
  readonly identity: string | undefined;
  /** True if both the caller and the launch are unknown. Events of such refusals are combined. */
  readonly isAnonymous: boolean;
  /** True if the refusal counts towards the limit of the address. */
  readonly isCounted: boolean;
};

/** Counts and audits the refusals of one process. It is not called for accepted requests. */
export type Refusals = {
  /**
   * Records a refusal. If the address exceeds its limit, resolves with the milliseconds until the address is
   * within the limit again.
   */
  record(refused: RefusedRequest): Promise<{ readonly overForMs: number }>;
  /** Stores the combined events that have not been stored yet, and stops. */
  stop(): Promise<void>;
};

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
