import { TraceFlags, type TracingSdk, trace } from '@clinical-launch/runtime/open-telemetry';
import { isUndecided } from '@clinical-launch/runtime/tracing';
import type { Context, Link, SpanContext } from '@opentelemetry/api';

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

/** Returns whether a span is sampled that starts in this context, which may have a parent. */
export type IsSampled = (context: Context, traceId: string, links?: readonly Link[]) => boolean;

/**
 * Creates the sampler of a process. A request that knows only the GUID of its launch is decided by the trace
 * id, as the first request of the launch was. A batch is sampled if one of its causes is.
 */
export function createSampler(sdk: TracingSdk, { name, ratio }: SamplerSettings): IsSampled {
  const always = name.endsWith('always_on') ? 1 : name.endsWith('always_off') ? 0 : undefined;
  const root = new sdk.TraceIdRatioBasedSampler(always ?? ratio);
  const isByParent = name.startsWith('parentbased');
  const hasFlag = ({ traceFlags }: SpanContext) => (traceFlags & TraceFlags.SAMPLED) !== 0;

  return (context, traceId, links) => {
    if (isByParent) {
      if (links?.some((link) => hasFlag(link.context))) return true;
      const parent = trace.getSpanContext(context);
      // A parent that is not valid is none: the span then has another trace id.
      if (parent?.traceId === traceId && !isUndecided(context)) return hasFlag(parent);
    }
    const { decision } = root.shouldSample(context, traceId);
    return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED;
  };
}
