import { setTimeout as delay } from 'node:timers/promises';
import { loadTracing } from '@clinical-launch/runtime/open-telemetry';
import { traceIds } from '@clinical-launch/runtime/trace-ids';
import { markFailed } from '@clinical-launch/runtime/tracing';
import { runsOf } from '@clinical-launch/testing/runs';
import { describe, expect, it } from '@jest/globals';
import {
  createContextKey,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import fc from 'fast-check';
import { exportFailedToo } from '../src/held-spans.ts';
import { createSampler, type SamplerSettings } from '../src/trace-sampler.ts';

const sdk = loadTracing();
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Creates a tracer of a process, and shows what it exports. */
function openTracer({ name = 'parentbased_traceidratio', ratio = 0 }: Partial<SamplerSettings> = {}) {
  const exported: ReadableSpan[] = [];
  const provider = new sdk.TracerProvider({
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: traceIds,
    spanLimits: { linkCountLimit: 3, attributeValueLengthLimit: 5 },
    spanProcessors: [
      {
        onStart: () => undefined,
        onEnd: (span) => void exported.push(span),
        forceFlush: async () => undefined,
        shutdown: async () => undefined,
      },
    ],
  });
  const tracer = exportFailedToo(provider, createSampler(sdk, { name, ratio })).getTracer('test');
  return { tracer, exported, names: () => exported.map((span) => span.name) };
}

const below = (parent: Span) => trace.setSpan(ROOT_CONTEXT, parent);

const remote = (traceFlags: number): SpanContext => ({
  traceId,
  spanId: '00f067aa0ba902b7',
  traceFlags,
  isRemote: true,
});

const belowRemote = (traceFlags: number) => trace.setSpanContext(ROOT_CONTEXT, remote(traceFlags));

/** A parent that the platform itself named, so that its trace id decides. */
const undecided = createContextKey('clinical-launch undecided parent');
const belowUndecided = belowRemote(0).setValue(undecided, true);

const msOf = ([seconds, nanoseconds]: HrTime = [Number.NaN, 0]) => seconds * 1000 + nanoseconds / 1e6;

type Change = (span: Span) => unknown;

const time = fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.nat(999_999_999)) as fc.Arbitrary<HrTime>;
const attributes = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.string(), fc.integer()));
const linkTo = (...contexts: SpanContext[]): fc.Arbitrary<Link> =>
  fc.record({ context: fc.constantFrom(...contexts), attributes });
const link = linkTo(remote(0), remote(1));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.constantFrom('a', 'b'), fc.string()).map(
    ([name, value]): Change =>
      (span) =>
        span.setAttribute(name, value),
  ),
  attributes.map(
    (given): Change =>
      (span) =>
        span.setAttributes(given),
  ),
  link.map(
    (given): Change =>
      (span) =>
        span.addLink(given),
  ),
  fc.array(link).map(
    (given): Change =>
      (span) =>
        span.addLinks(given),
  ),
  fc.tuple(attributes, time).map(
    ([given, at]): Change =>
      (span) =>
        span.addEvent('event', given, at),
  ),
  time.map(
    (at): Change =>
      (span) =>
        span.addEvent('event', at),
  ),
  time.map(
    (at): Change =>
      (span) =>
        span.recordException(new Error('exception'), at),
  ),
  fc.string().map(
    (name): Change =>
      (span) =>
        span.updateName(name),
  ),
  fc.tuple(fc.constantFrom(0, 1, 2), fc.string()).map(
    ([code, message]): Change =>
      (span) =>
        span.setStatus({ code, message }),
  ),
);

/** A step in the life of a family: begins a span below another, changes a third and may end a fourth. */
const step = fc.record({
  below: fc.nat(),
  // A link to a sampled trace would sample it.
  options: fc.record({ kind: fc.nat(4), attributes, links: fc.array(linkTo(remote(0))), startTime: time }),
  changed: fc.nat(),
  change,
  ended: fc.option(fc.record({ index: fc.nat(), at: time })),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns a span as it is exported, with the number of each span in place of its id. */
function describeSpan(span: ReadableSpan, numbers: ReadonlyMap<string, number>) {
  const { parentSpanContext: parent } = span;
  const { spanId, ...context } = span.spanContext();
  return {
    context,
    number: numbers.get(spanId),
    parent: parent && { number: numbers.get(parent.spanId), isRemote: parent.isRemote === true },
    name: span.name,
    kind: span.kind,
    times: [span.startTime, span.endTime, span.duration],
    attributes: span.attributes,
    links: span.links,
    events: span.events.map((event) => ({
      ...event,
      attributes: { ...event.attributes, 'exception.stacktrace': undefined },
    })),
    status: span.status,
    dropped: [span.droppedAttributesCount, span.droppedEventsCount, span.droppedLinksCount],
    scope: span.instrumentationScope,
    resource: span.resource.attributes,
  };
}

/** Plays a family whose request comes from a caller with these flags, and returns what is exported. */
function play(steps: readonly Step[], flags: number) {
  const { tracer, exported } = openTracer();
  const startTime: HrTime = [1, 0];
  const first = tracer.startSpan('first', { startTime }, belowRemote(flags));
  const family = [first];
  const spanAt = (index: number) => family[index % family.length] ?? first;
  for (const { below: parent, options, changed, change, ended } of steps) {
    family.push(tracer.startSpan('below', options, below(spanAt(parent))));
    change(spanAt(changed));
    const ending = ended === null ? first : spanAt(ended.index);
    // The first span ends last.
    if (ending !== first) ending.end(ended?.at);
  }
  const failing = tracer.startSpan('fails', { startTime }, below(first));
  family.push(failing.setStatus({ code: SpanStatusCode.ERROR }));
  for (const span of family.toReversed()) if (span.isRecording()) span.end([2000, 0]);
  const numbers = new Map(family.map((span, index) => [span.spanContext().spanId, index]));
  return exported.map((span) => describeSpan(span, numbers));
}

describe('a trace that is not sampled', () => {
  it('is exported as a sampled one is if it fails, span by span', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        expect(play(steps, 0)).toEqual(play(steps, 1));
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it('is dropped if none of its spans fails', () => {
    const { tracer, names } = openTracer();
    const first = tracer.startSpan('first');
    tracer.startSpan('below', {}, below(first)).setStatus({ code: SpanStatusCode.OK }).end();
    first.end();
    expect(names()).toEqual([]);
  });

  it('has the flag of a sampled one from the failure on, and not before', () => {
    const { tracer } = openTracer();
    const first = tracer.startSpan('first');
    const { traceFlags } = first.spanContext();
    first.setStatus({ code: SpanStatusCode.ERROR }).end();
    expect([traceFlags, first.spanContext().traceFlags]).toEqual([0, 1]);
  });

  it('ends with its first span: what ends later is decided alone', () => {
    const { tracer, names } = openTracer();
    const first = tracer.startSpan('first');
    const late = ['late', 'fails'].map((name) => tracer.startSpan(name, {}, below(first)));
    first.end();
    expect(names()).toEqual([]);
    late[0]?.end();
    late[1]?.setStatus({ code: SpanStatusCode.ERROR }).end();
    expect(names()).toEqual(['fails']);
  });

  it('has the times at which its spans started and ended, whenever it is exported', async () => {
    const { tracer, exported } = openTracer();
    const startedAt = performance.now();
    // A millisecond after the process began, as `performance.now()` counts.
    const first = tracer.startSpan('first', { startTime: 1 });
    const child = tracer.startSpan('below', {}, below(first));
    await delay(5);
    child.addEvent('event').end();
    const childMs = performance.now() - startedAt;
    await delay(5);
    first.setStatus({ code: SpanStatusCode.ERROR }).end(startedAt);
    const [ofChild, ofFirst] = exported;
    expect(Math.abs(msOf(ofFirst?.startTime) - performance.timeOrigin)).toBeLessThan(30_000);
    expect(msOf(ofFirst?.duration)).toBeCloseTo(startedAt - 1, 3);
    expect(Math.abs(msOf(ofChild?.startTime) - performance.timeOrigin - startedAt)).toBeLessThan(30_000);
    expect(msOf(ofChild?.duration)).toBeGreaterThan(0);
    expect(msOf(ofChild?.duration)).toBeLessThanOrEqual(childMs);
    expect(msOf(ofChild?.events[0]?.time)).toBeLessThanOrEqual(msOf(ofChild?.endTime));
  });

  it('may begin below another trace', () => {
    const { tracer, names } = openTracer();
    const first = tracer.startSpan('first');
    const other = tracer.startSpan('other', { root: true }, below(first));
    markFailed(other, 'failed');
    other.end();
    first.end();
    expect(names()).toEqual(['other']);
    expect(other.spanContext().traceId).not.toBe(first.spanContext().traceId);
  });

  it('exports at most 256 spans of a request, the first among them', () => {
    const { tracer, names } = openTracer();
    const first = tracer.startSpan('first').setStatus({ code: SpanStatusCode.ERROR });
    for (let count = 0; count < 300; count += 1) tracer.startSpan('below', {}, below(first)).end();
    first.end();
    expect(names()).toHaveLength(256);
    expect(names()).toContain('first');
  });

  it('is above the span that `startActiveSpan` of the API runs work in', () => {
    const { tracer, names } = openTracer();
    const first = tracer.startSpan('first');
    tracer.startActiveSpan('below', {}, below(first), (span) => {
      markFailed(span, 'failed');
      span.end();
    });
    first.end();
    expect(names()).toEqual(['below', 'first']);
  });
});

describe('a span is sampled', () => {
  const all = { root: true, sampled: true, unsampled: true, undecided: true, linked: true };
  const none = { root: false, sampled: false, unsampled: false, undecided: false, linked: false };
  const byParent = { sampled: true, unsampled: false, linked: true };

  it.each<[SamplerSettings['name'], number, typeof all]>([
    ['always_on', 0, all],
    ['always_off', 1, none],
    ['traceidratio', 1, all],
    ['traceidratio', 0, none],
    ['parentbased_always_on', 0, { ...all, ...byParent }],
    ['parentbased_always_off', 1, { ...none, ...byParent }],
    ['parentbased_traceidratio', 1, { ...all, ...byParent }],
    ['parentbased_traceidratio', 0, { ...none, ...byParent }],
  ])('by %s, ratio %d: %j', (name, ratio, expected) => {
    const isSampled = createSampler(sdk, { name, ratio });
    const links = [{ context: remote(0) }, { context: remote(1) }];
    expect({
      root: isSampled(ROOT_CONTEXT, traceId),
      sampled: isSampled(belowRemote(1), traceId),
      unsampled: isSampled(belowRemote(0), traceId),
      undecided: isSampled(belowUndecided, traceId),
      linked: isSampled(ROOT_CONTEXT, traceId, links),
    }).toEqual(expected);
  });
});
