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

/**
 * The methods that spans contain. Other methods are `_OTHER` (OpenTelemetry semantic conventions for HTTP).
 */
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
  /** The first GUID of the request, which a launch may replace later. */
  readonly id: string;
  readonly method: string;
  readonly scheme: string;
};

export type RequestEnd = {
  readonly route: string | undefined;
  readonly status: number;
  readonly correlationId: string;
  readonly clientId: string | undefined;
};

/**
 * The trace of a request, and its span if this process creates spans. The request continues the trace in its
 * header `traceparent`. Without that header, it continues the trace of its launch, if the launch is known
 * before the trace is first used. Otherwise, it begins a trace whose id is its own GUID (`traceOfLaunch`).
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

  /** The trace id and the span id of this request. They do not change after this getter was first used. */
  get context(): SpanContext {
    this.#context ??= isTracing() ? this.#open().spanContext() : this.#drawn();
    return this.#context;
  }

  get traceparent(): string {
    return toTraceparent(this.context);
  }

  /**
   * Continues the trace of a launch. If this request already has a trace, adds a link to the trace of the
   * launch instead. The launch id may be unverified, because an unverified `traceparent` is also accepted.
   */
  follow(launchId: string | undefined): void {
    if (launchId === undefined || launchId === this.#launchId) return;
    this.#launchId = launchId;
    if (!isTracing()) return;
    if (this.#parent !== undefined || this.#context !== undefined)
      linkTo(this.#open(), firstSpanOf(launchId));
  }

  /**
   * Begins the trace of the launch that this request issued, if this request is in a trace of its caller.
   * Later requests of the launch know only the GUID of the launch, so they cannot continue the trace of the
   * caller.
   */
  beginLaunch(): void {
    if (this.#parent === undefined || !isTracing()) return;
    const { id } = this.#beginning;
    const links = [{ context: this.context }];
    withIds(traceOfLaunch(id), () => startSpan('launch', { links })).end();
    linkTo(this.#open(), firstSpanOf(id));
  }

  /** Calls `work` with the span of this request as the current span. */
  run<Result>(work: () => Result): Result {
    return withinRequest(() => this.#open(), work);
  }

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
    // Omits the address, because launch URLs contain secrets in their query, and paths contain order ids.
    const attributes = { 'http.request.method': this.#method, 'url.scheme': scheme };
    const options = { kind: SpanKind.SERVER, startTime: this.#startedAt, attributes };
    if (this.#parent !== undefined) return startSpan(this.#method, options, this.#parent);
    if (this.#launchId === id) return withIds(traceOfLaunch(id), () => startSpan(this.#method, options));
    return startSpan(this.#method, options, firstSpanOf(this.#launchId));
  }

  /**
   * Returns the ids of the request in a process that creates no spans. Keeps the trace flags of the caller.
   */
  #drawn(): SpanContext {
    const spanId = randomBytes(8).toString('hex');
    if (this.#parent !== undefined) return { ...this.#parent, spanId };
    const first = { ...traceOfLaunch(this.#launchId), traceFlags: 1 };
    return this.#launchId === this.#beginning.id ? first : { ...first, spanId };
  }
}

const firstSpanOf = (launchId: string): SpanContext => ({ ...traceOfLaunch(launchId), traceFlags: 0 });
