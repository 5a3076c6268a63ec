import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Attributes, Context, Link, Span, SpanContext, SpanOptions } from '@opentelemetry/api';

export type { Attributes, Context, Span, SpanContext } from '@opentelemetry/api';

// Loads the API with `require`, as the SDK does, so that the process has a single copy of it.
const api = createRequire(import.meta.url)('@opentelemetry/api') as typeof import('@opentelemetry/api');
const { context, createContextKey, ROOT_CONTEXT, SpanStatusCode, trace } = api;
export const { SpanKind } = api;

/*
 * Creates spans with the OpenTelemetry API, and reads and writes W3C Trace Context. Until a process enables
 * tracing, nothing here creates a span. No attribute may contain patient data, a secret, an address with a
 * query, or the parameters of a statement.
 */

const tracer = trace.getTracer('clinical-launch');

let isOn = false;

/** Returns whether this process creates spans. */
export const isTracing = (): boolean => isOn;

/** Creates spans from now on. Call it when a provider is registered. */
export function enableTracing(): void {
  isOn = true;
}

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns whether a value is a `traceparent` (W3C Trace Context section 3.2), version 00. */
export const isTraceparent = (value: unknown): value is string =>
  typeof value === 'string' && traceparentForm.test(value);

/** Returns a span as a `traceparent`. */
export const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** Reads a `traceparent` as the span of another process; undefined for any other value. */
export function readTraceparent(value: unknown): SpanContext | undefined {
  if (!isTraceparent(value)) return undefined;
  const traceFlags = Number.parseInt(value.slice(-2), 16);
  return { traceId: value.slice(3, 35), spanId: value.slice(36, 52), traceFlags, isRemote: true };
}

/**
 * Returns the ids of the trace that a launch begins. Every process computes them from the launch's GUID. The
 * GUID is the trace id, and its second half is the id of the first span. Requests that know only the launch
 * can therefore continue its trace, and support finds the trace by the GUID.
 */
export function traceOfLaunch(launchId: string): { readonly traceId: string; readonly spanId: string } {
  const traceId = launchId.replaceAll('-', '').toLowerCase();
  return { traceId, spanId: traceId.slice(16) };
}

/**
 * Starts a child of a span of another process, or the first span of a trace. The caller must end the span.
 */
export function startSpan(name: string, options: SpanOptions, parent?: SpanContext): Span {
  if (parent === undefined) return tracer.startSpan(name, options, ROOT_CONTEXT);
  const above = trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
  return tracer.startSpan(name, options, above);
}

/** Links a span to a related span. */
export const linkTo = (span: Span, other: SpanContext): Span => span.addLink({ context: other });

const requestSpan = createContextKey('clinical-launch request span');

/**
 * Runs work within a request. Opens the request's span only when the span is first needed, because the launch
 * of the request may not be known earlier.
 */
export function withinRequest<Result>(open: () => Span, work: () => Result): Result {
  if (!isOn) return work();
  let opened: Context | undefined;
  const openOnce = () => {
    opened ??= trace.setSpan(ROOT_CONTEXT, open());
    return opened;
  };
  return context.with(ROOT_CONTEXT.setValue(requestSpan, openOnce), work);
}

/** Returns the context of the current span; undefined outside a span. */
function currentContext(): Context | undefined {
  if (!isOn) return undefined;
  const active = context.active();
  if (trace.getSpan(active) !== undefined) return active;
  const open = active.getValue(requestSpan) as (() => Context) | undefined;
  return open?.();
}

/** Returns the current span; undefined outside a span, and without tracing. */
export function currentSpan(): SpanContext | undefined {
  const current = currentContext();
  return current && trace.getSpanContext(current);
}

/** Returns the `traceparent` of the current span; undefined outside a span, and without tracing. */
export function currentTraceparent(): string | undefined {
  const current = currentSpan();
  return current && toTraceparent(current);
}

type ChildSpan = { readonly name: string; readonly kind?: number; readonly attributes: Attributes };

/**
 * Runs a call to another program in a child of the current span. Outside a span it only runs the call,
 * because polls and reconnections would fill the traces. The child does not become the current span, because
 * a call has no children.
 */
export function inChildSpan<Result>(
  { name, kind = SpanKind.CLIENT, attributes }: ChildSpan,
  work: (span?: Span) => Promise<Result>,
): Promise<Result> {
  const parent = currentContext();
  if (parent === undefined) return work();
  const span = tracer.startSpan(name, { kind, attributes }, parent);
  return untilEnd(span, work(span));
}

/** Records work that has just ended and took `durationMs` milliseconds, as a child of the current span. */
export function recordChildSpan(
  { name, kind = SpanKind.CLIENT, attributes }: ChildSpan,
  { durationMs, error }: { readonly durationMs: number; readonly error?: unknown },
): void {
  const parent = currentContext();
  if (parent === undefined) return;
  const endTime = performance.now();
  const span = tracer.startSpan(name, { kind, attributes, startTime: endTime - durationMs }, parent);
  if (error !== undefined) markFailed(span, error);
  span.end(endTime);
}

type FollowingSpan = ChildSpan & {
  /** The `traceparent` of each cause, for instance of each event in a batch. */
  readonly causes: readonly string[];
};

/**
 * Runs work that was caused by earlier work, perhaps hours ago: in a child of a single cause, or in a span
 * with a link to each of several causes.
 */
export function inFollowingSpan<Result>(
  { name, kind = SpanKind.INTERNAL, attributes, causes }: FollowingSpan,
  work: (span?: Span) => Promise<Result>,
): Promise<Result> {
  if (!isOn) return work();
  const contexts = [...new Set(causes)].flatMap((cause) => readTraceparent(cause) ?? []);
  const [only, ...others] = contexts;
  const parent =
    only !== undefined && others.length === 0 ? trace.setSpanContext(ROOT_CONTEXT, only) : ROOT_CONTEXT;
  const links: Link[] = others.length === 0 ? [] : contexts.map((linked) => ({ context: linked }));
  const span = tracer.startSpan(name, { kind, attributes, links }, parent);
  return untilEnd(span, context.with(trace.setSpan(parent, span), work, undefined, span));
}

async function untilEnd<Result>(span: Span, working: Promise<Result>): Promise<Result> {
  try {
    return await working;
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed, with the class of the error and never its message, which may contain values. */
export function markFailed(span: Span, error: unknown): void {
  span.setAttribute('error.type', errorTypeOf(error)).setStatus({ code: SpanStatusCode.ERROR });
}

function errorTypeOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[\w.-]{1,40}$/.test(code) ? code : error.name;
}

export type SpanIds = { readonly traceId: string; readonly spanId: string };

let chosen: SpanIds | undefined;

/**
 * Generates random ids of traces and spans (`IdGenerator` of the SDK), or returns the ids that `withIds`
 * gives.
 */
export const traceIds = {
  generateTraceId: (): string => chosen?.traceId ?? randomBytes(16).toString('hex'),
  generateSpanId: (): string => chosen?.spanId ?? randomBytes(8).toString('hex'),
};

/** Starts a span with these ids. The OpenTelemetry API has no parameter for ids. */
export function withIds<Span>(ids: SpanIds, start: () => Span): Span {
  chosen = ids;
  try {
    return start();
  } finally {
    chosen = undefined;
  }
}
