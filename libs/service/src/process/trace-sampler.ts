import { isUndecided } from '@clinical-launch/contracts/tracing';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { TracingSdk } from '../open-telemetry.ts';

/** The samplers of `OTEL_TRACES_SAMPLER`. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerSettings = { readonly name: (typeof samplerNames)[number]; readonly ratio: number };

/**
 * Creates the sampler of a process. It records every span, so that a trace that fails can be exported
 * although it is not sampled. A request that knows only the GUID of its launch is decided by the trace id,
 * as the first request of the launch was. A batch is sampled if one of its causes is.
 */
export function createSampler(sdk: TracingSdk, { name, ratio }: SamplerSettings): Sampler {
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler } = sdk;
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  const isByParent = name.startsWith('parentbased');
  const decide = isByParent ? new ParentBasedSampler({ root }) : root;
  const { RECORD, RECORD_AND_SAMPLED } = sdk.SamplingDecision;

  return {
    shouldSample(...asked: Parameters<Sampler['shouldSample']>) {
      const [parent, , , , , links] = asked;
      const isOfSampled = links.some((link) => (link.context.traceFlags & sdk.TraceFlags.SAMPLED) !== 0);
      if (isByParent && isOfSampled) return { decision: RECORD_AND_SAMPLED };
      const result = (isUndecided(parent) ? root : decide).shouldSample(...asked);
      return result.decision === RECORD_AND_SAMPLED ? result : { ...result, decision: RECORD };
    },
    toString: () => `errors too, ${decide.toString()}`,
  };
}
