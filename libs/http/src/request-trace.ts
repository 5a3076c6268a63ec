import { randomBytes } from 'node:crypto';
import {
  isTracing,
  linkTo,
  markFailed,
  readTraceparent,
  type Span,
  type SpanContext,
  SpanKind,
  startSpan,
  toTraceparent,
  traceOfLaunch,
  withIds,
  withinRequest,
} from '@clinical-launch/runtime/tracing';

/** Semantic conventions for HTTP: other methods are `_OTHER`, because callers choose them. */
const knownMethods = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);

type Beginning = {
  /** The header `traceparent` of the request. */
  readonly sent: string | string[] | undefined;
  /** The GUID that the request began with. */
  readonly id: string;
  readonly method: string;
  readonly scheme: string;
};

/** The result of a request, for its span. */
export type RequestEnd = {
  readonly route: string | undefined;
  readonly status: number;
  readonly correlationId: string;
  readonly clientId: string | undefined;
};

/**
 * The place of a request in a trace, and its span if this process creates spans. It continues the trace of
 * the caller. Without a `traceparent` it continues the trace of its launch, if the launch is known before the
 * trace is first used. Otherwise it begins the trace of its own GUID (`traceOfLaunch`).
 */
export class RequestTrace {
  readonly #startedAt = performance.now();
  readonly #beginning: Beginning;
  readonly #parent: SpanContext | undefined;
  #launchId: string;
  #context: SpanContext | undefined;
  #span: Span | undefined;

  constructor(beginning: Beginning) {
    this.#beginning = beginning;
    this.#parent = readTraceparent(beginning.sent);
    this.#launchId = beginning.id;
  }

  /** The trace and the span of this request. They do not change after the first use. */
  get context(): SpanContext {
    this.#context ??= isTracing() ? this.#open().spanContext() : this.#drawn();
    return this.#context;
  }

  get traceparent(): string {
    return toTraceparent(this.context);
  }

  /**
   * Continues the trace of a launch, or links to it if this request already has a trace. The launch need not
   * be verified yet, just as any `traceparent` is accepted.
   */
  follow(launchId: string | undefined): void {
    if (launchId === undefined || launchId === this.#launchId) return;
    this.#launchId = launchId;
    if (!isTracing()) return;
    if (this.#parent !== undefined || this.#context !== undefined)
      linkTo(this.#open(), firstSpanOf(launchId));
  }

  /**
   * Begins the trace of the launch that this request issued, if this request is in a trace of its caller:
   * the later requests of the launch know only the launch's GUID.
   */
  beginLaunch(): void {
    if (this.#parent === undefined || !isTracing()) return;
    const { id } = this.#beginning;
    const links = [{ context: this.context }];
    withIds(traceOfLaunch(id), () => startSpan('launch', { links })).end();
    linkTo(this.#open(), firstSpanOf(id));
  }

  /** Runs the request with its span as the current span. */
  run<Result>(work: () => Result): Result {
    return withinRequest(() => this.#open(), work);
  }

  /** Ends the span. */
  end({ route, status, correlationId, clientId }: RequestEnd): void {
    if (!isTracing()) return;
    const span = this.#open();
    if (route !== undefined) span.updateName(`${this.#method} ${route}`).setAttribute('http.route', route);
    span.setAttribute('http.response.status_code', status);
    span.setAttribute('clinical_launch.correlation_id', correlationId);
    if (clientId !== undefined) span.setAttribute('clinical_launch.client_id', clientId);
    if (status >= 500) markFailed(span, String(status));
    span.end(performance.now());
  }

  get #method(): string {
    const { method } = this.#beginning;
    return knownMethods.has(method) ? method : '_OTHER';
  }

  #open(): Span {
    this.#span ??= this.#start();
    return this.#span;
  }

  #start(): Span {
    const { id, scheme } = this.#beginning;
    // Without the address: launch URLs have secrets in their query, and paths name orders.
    const attributes = { 'http.request.method': this.#method, 'url.scheme': scheme };
    const options = { kind: SpanKind.SERVER, startTime: this.#startedAt, attributes };
    if (this.#parent !== undefined) return startSpan(this.#method, options, this.#parent);
    if (this.#launchId === id) return withIds(traceOfLaunch(id), () => startSpan(this.#method, options));
    return startSpan(this.#method, options, firstSpanOf(this.#launchId));
  }

  /** Returns ids for a process that creates no spans, with the caller's flags. */
  #drawn(): SpanContext {
    const spanId = randomBytes(8).toString('hex');
    if (this.#parent !== undefined) return { ...this.#parent, spanId };
    const first = { ...traceOfLaunch(this.#launchId), traceFlags: 1 };
    return this.#launchId === this.#beginning.id ? first : { ...first, spanId };
  }
}

const firstSpanOf = (launchId: string): SpanContext => ({ ...traceOfLaunch(launchId), traceFlags: 0 });
