import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { TracingSdk } from '../open-telemetry.ts';

/** The spans below the first span that a process has of a trace, while they are not sampled. */
type Family = { readonly first: ReadableSpan; ended: ReadableSpan[]; hasFailed: boolean; isOver: boolean };

/** On the span itself: a WeakMap of all spans costs more than the spans. */
const family = Symbol('family');
type Held = { [family]?: Family };

/** The maximum number of spans of a family that are exported if it fails. */
const mostSpans = 256;

/**
 * Exports the sampled spans. Holds those that are not sampled until the first of them ends, and then exports
 * them all if one of them failed, or drops them.
 */
export function exportFailedToo(sdk: TracingSdk, sampled: SpanProcessor): SpanProcessor {
  const { SpanStatusCode, TraceFlags, trace } = sdk;
  const isSampled = (span: ReadableSpan) => (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  const keep = (span: ReadableSpan) => {
    span.spanContext().traceFlags |= TraceFlags.SAMPLED;
    sampled.onEnd(span);
  };
  return {
    onStart(span: Span, parentContext) {
      if (isSampled(span)) return sampled.onStart(span, parentContext);
      const parent = trace.getSpan(parentContext);
      const known = (parent as Held | undefined)?.[family];
      (span as Held)[family] = known ?? { first: span, ended: [], hasFailed: false, isOver: false };
    },
    onEnd(span) {
      const its = (span as Held)[family];
      if (its === undefined) return sampled.onEnd(span);
      its.hasFailed ||= span.status.code === SpanStatusCode.ERROR;
      if (its.ended.length < mostSpans) its.ended.push(span);
      // What ends after the first span is decided alone.
      its.isOver ||= span === its.first;
      if (!its.isOver) return;
      if (its.hasFailed) its.ended.forEach(keep);
      its.ended = [];
    },
    forceFlush: () => sampled.forceFlush(),
    shutdown: () => sampled.shutdown(),
  };
}
