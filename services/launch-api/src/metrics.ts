import type { Handler } from '@clinical-launch/http/exchange';
import { countLaunchRefusals } from '@clinical-launch/http/launch-refusals';
import { meter as getMeter } from '@clinical-launch/runtime/metrics';
import type { LaunchExchange } from './http/check-launch.ts';

/** Counts launch URLs, by the client of the registry and the reason of the catalogue. */
export type LaunchCounts = {
  readonly issued: (clientId: string) => void;
  /** Returns the handler with its refusals counted, those of its limits included. */
  countingRefusals(handle: Handler<LaunchExchange>): Handler<LaunchExchange>;
};

/** Creates the counters of issued and refused launches. */
export function createLaunchCounts(): LaunchCounts {
  const meter = getMeter();
  const issued = meter.createCounter('clinical_launch.launches.issued', {
    description: 'Launch URLs that were issued',
    unit: '{launch}',
  });
  return {
    issued: (clientId) => issued.add(1, { 'clinical_launch.client.id': clientId }),
    countingRefusals: countLaunchRefusals<LaunchExchange>({
      step: 'request',
      clientOf: ({ found }) => found.caller?.clientId,
    }),
  };
}
