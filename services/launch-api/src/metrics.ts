import type { ServiceError } from '@clinical-launch/http/errors';
import { countLaunchRefusals } from '@clinical-launch/http/launch-refusals';
import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { LaunchRefused } from './http/check-launch.ts';

/** Counts issued and refused launch URLs by client, and refusals by reason. */
export type LaunchCounts = {
  readonly issued: (clientId: string) => void;
  /** Counts a refusal, including refusals by rate limits. */
  readonly refused: (error: ServiceError, exchange: LaunchRefused) => void;
};

/** Creates the counters of issued and refused launches. */
export function createLaunchCounts(): LaunchCounts {
  const meter = getMeter();
  const issued = meter.createCounter('clinical_launch.launches.issued', {
    description: 'Launch URLs that were issued',
    unit: '{launch}',
  });
  const countRefusal = countLaunchRefusals('request');
  return {
    issued: (clientId) => issued.add(1, { 'clinical_launch.client.id': clientId }),
    refused: (error, { caller }) => countRefusal(error, caller?.clientId),
  };
}
