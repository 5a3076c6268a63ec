import { context, SpanStatusCode, TraceFlags, trace } from '@clinical-launch/runtime/open-telemetry';
import { traceIds, withIds } from '@clinical-launch/runtime/trace-ids';
import type {
  Attributes,
  AttributeValue,
  Context,
  Exception,
  Link,
  Span,
  SpanContext,
  SpanOptions,
  SpanStatus,
  TimeInput,
  Tracer,
  TracerProvider,
} from '@opentelemetry/api';
import type { IsSampled } from './trace-sampler.ts';

/** The spans below the first span that a process has of a trace, while they are not sampled. */
type Family = { readonly first: HeldSpan; ended: HeldSpan[]; hasFailed: boolean; isOver: boolean };

/** The maximum number of spans of a family that are exported if it fails. */
const mostSpans = 256;

/**
 * Returns a provider whose sampled spans are those of the SDK, which exports them. It holds the other spans
 * until the first of them ends. Then it exports them all if one of them failed, or drops them. A span of the
 * SDK costs several times as much as one that is held, and most are dropped.
 * @param exported the SDK's provider, which samples every span and takes the ids from `traceIds`
 */
export function exportFailedToo(exported: TracerProvider, isSampled: IsSampled): TracerProvider {
  return {
    getTracer(...named) {
      const tracer = exported.getTracer(...named);
      const startSpan: Tracer['startSpan'] = (name, options = {}, within = context.active()) => {
        const above = options.root ? undefined : trace.getSpan(within);
        const parent = above?.spanContext();
        const isBelow = parent !== undefined && trace.isSpanContextValid(parent);
        const traceId = isBelow ? parent.traceId : traceIds.generateTraceId();
        const ids = { traceId, spanId: traceIds.generateSpanId() };
        if (isSampled(within, traceId, options.links))
          return withIds(ids, () => tracer.startSpan(name, options, within));
        const spanContext = { ...ids, traceFlags: TraceFlags.NONE };
        const family = above instanceof HeldSpan ? above.family : undefined;
        return new HeldSpan({ tracer, name, options, within, spanContext }, family);
      };
      // The SDK's `startActiveSpan` calls `startSpan` of its object.
      return Object.assign(Object.create(tracer), { startSpan });
    },
  };
}

type Held = {
  readonly tracer: Tracer;
  readonly name: string;
  readonly options: SpanOptions;
  /** Has the parent. */
  readonly within: Context;
  readonly spanContext: SpanContext;
};

/** A span that is not sampled. Only remembers what it is given, for the SDK's span that it may become. */
class HeldSpan implements Span {
  readonly family: Family;
  readonly #held: Held;
  readonly #startTime: TimeInput;
  readonly #changes: ((span: Span) => void)[] = [];
  #status = SpanStatusCode.UNSET;
  #endTime: TimeInput | undefined;

  constructor(held: Held, family: Family | undefined) {
    this.#held = held;
    this.#startTime = held.options.startTime ?? performance.now();
    this.family = family ?? { first: this, ended: [], hasFailed: false, isOver: false };
  }

  spanContext(): SpanContext {
    return this.#held.spanContext;
  }

  isRecording(): boolean {
    return this.#endTime === undefined;
  }

  setAttribute(name: string, value: AttributeValue): this {
    return this.#remember((span) => span.setAttribute(name, value));
  }

  setAttributes(attributes: Attributes): this {
    return this.#remember((span) => span.setAttributes(attributes));
  }

  addLink(link: Link): this {
    return this.#remember((span) => span.addLink(link));
  }

  addLinks(links: Link[]): this {
    return this.#remember((span) => span.addLinks(links));
  }

  addEvent(name: string, given?: Attributes | TimeInput, time: TimeInput = performance.now()): this {
    return this.#remember((span) =>
      isTime(given) ? span.addEvent(name, given) : span.addEvent(name, given, time),
    );
  }

  recordException(exception: Exception, time: TimeInput = performance.now()): void {
    this.#remember((span) => span.recordException(exception, time));
  }

  updateName(name: string): this {
    return this.#remember((span) => span.updateName(name));
  }

  setStatus(status: SpanStatus): this {
    const { UNSET, OK } = SpanStatusCode;
    // As the SDK: the first OK is final.
    if (this.isRecording() && status.code !== UNSET && this.#status !== OK) this.#status = status.code;
    return this.#remember((span) => span.setStatus(status));
  }

  end(endTime: TimeInput = performance.now()): void {
    if (!this.isRecording()) return;
    this.#endTime = endTime;
    const { family } = this;
    family.hasFailed ||= this.#status === SpanStatusCode.ERROR;
    const isFirst = this === family.first;
    if (isFirst || family.ended.length < mostSpans - 1) family.ended.push(this);
    // What ends after the first span is decided alone.
    family.isOver ||= isFirst;
    if (!family.isOver) return;
    if (family.hasFailed) for (const span of family.ended) span.#export();
    family.ended = [];
  }

  #remember(change: (span: Span) => void): this {
    if (this.isRecording()) this.#changes.push(change);
    return this;
  }

  #export(): void {
    const { tracer, name, options, within, spanContext } = this.#held;
    // For what names the span from now on, such as the metrics of the request.
    spanContext.traceFlags = TraceFlags.SAMPLED;
    const timed = { ...options, startTime: this.#startTime };
    const span = withIds(spanContext, () => tracer.startSpan(name, timed, within));
    for (const change of this.#changes) change(span);
    span.end(this.#endTime);
  }
}

const isTime = (value: Attributes | TimeInput | undefined): value is TimeInput =>
  typeof value === 'number' || value instanceof Date || Array.isArray(value);
