import { randomUUID } from 'node:crypto';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openBooks } from './books.ts';
import type { Caller, TimedAnswer } from './caller.ts';
import type { Collector, ReceivedSpan } from './collector.ts';
import { type Edge, openEdge } from './edge.ts';
import { fetchAccessToken, openLaunch, type Session } from './open-launch.ts';
import { order } from './orders.ts';
import { inPostgres } from './size.ts';
import type { System } from './system.ts';

/** The platform, and the collector that receives all its spans. */
export type Traced = { readonly system: System; readonly collector: Collector };

let system: System;
let collector: Collector;
let edge: Edge;

function use(traced: () => Traced): void {
  beforeAll(() => {
    ({ system, collector } = traced());
    edge = openEdge(system.processes);
  });
  afterAll(() => edge.close());
}

/** Creates a user who repeats each request until the expected answer arrives. */
function createUser(headersOf: (path: string) => Readonly<Record<string, string>> = () => ({})) {
  const caller: Caller = {
    async call(attempt) {
      let answer: TimedAnswer | undefined;
      const isAnswered = async () => {
        const askedAt = Date.now();
        const given = await edge
          .send({ ...attempt, headers: { ...attempt.headers, ...headersOf(attempt.path) } })
          .catch(() => undefined);
        answer = given && { ...given, askedAt };
        return given !== undefined && attempt.expected.includes(given.status);
      };
      await until(isAnswered, () => `${attempt.step} answered ${attempt.expected.join()}: ${answer?.status}`);
      return answer;
    },
  };
  return { caller };
}

type User = ReturnType<typeof createUser>;

async function launch({ caller }: User): Promise<Session & { launchId: string }> {
  const token = await fetchAccessToken(caller);
  const session = await openLaunch(caller, {
    token,
    launch: '',
    action: 'OrderTest',
    originatingId: randomUUID(),
    isRepeated: false,
    hesitate: async () => undefined,
  });
  if (session === undefined) throw new Error('There is no launch session');
  return { ...session, launchId: session.home.slice('/oltr/'.length) };
}

const traceOf = (launchId: string) => launchId.replaceAll('-', '');

const keyOf = ({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }) =>
  `${traceId} ${spanId}`;

const causesOf = ({ traceId, parentSpanId, links }: ReceivedSpan) => [
  ...(parentSpanId === '' ? [] : [{ traceId, spanId: parentSpanId }]),
  ...links,
];

/** Returns the spans connected to the first span of a trace by parents and links, in both directions. */
function connectedWith(traceId: string): readonly ReceivedSpan[] {
  const neighbours = new Map<string, string[]>();
  const join = (one: string, other: string) => neighbours.set(one, [...(neighbours.get(one) ?? []), other]);
  for (const span of collector.spans) {
    for (const cause of causesOf(span)) {
      join(keyOf(span), keyOf(cause));
      join(keyOf(cause), keyOf(span));
    }
  }
  const reached = new Set([keyOf({ traceId, spanId: traceId.slice(16) })]);
  for (const key of reached) for (const next of neighbours.get(key) ?? []) reached.add(next);
  return collector.spans.filter((span) => reached.has(keyOf(span)));
}

/** Returns the parents and links of the given spans that refer to spans never received. */
function danglingOf(spans: readonly ReceivedSpan[]): string[] {
  const known = new Set(collector.spans.map(keyOf));
  return spans.flatMap((span) =>
    causesOf(span)
      .map(keyOf)
      .filter((key) => !known.has(key))
      .map((key) => `${span.service} ${span.name}: ${key}`),
  );
}

/** Returns the `traceparent` of each stored audit event of a launch. */
const auditedTraces = (launchId: string): Promise<string[]> =>
  inPostgres(system, async (client) => {
    const { rows } = await client.query<{ traceparent: string }>(
      `select event::json->>'traceparent' as traceparent from audit_trail.audit_event where correlation_id = $1`,
      [launchId],
    );
    return rows.map(({ traceparent }) => traceparent);
  });

/** Waits until the span that stored each audit row of a launch has been received. */
async function awaitStoredRows(launchId: string): Promise<void> {
  const audited = await auditedTraces(launchId);
  await until(() => {
    const causes = new Set(
      collector.spans
        .filter(({ service, name }) => service === 'audit-trail' && name.startsWith('process '))
        .flatMap(causesOf)
        .map(keyOf),
    );
    return audited.every((text) =>
      causes.has(keyOf({ traceId: text.slice(3, 35), spanId: text.slice(36, 52) })),
    );
  });
}

const stepsOf = (spans: readonly ReceivedSpan[]) =>
  new Set(spans.map(({ service, name }) => `${service}: ${name}`));

const wholeLaunch = [
  'launch-api: POST /AccessApi/RequestLaunchUrl',
  'launch-api: EVALSHA issue',
  'launch-gateway: GET /secureLaunch',
  'launch-gateway: EVALSHA redeem',
  'ordering: GET /oltr/:launchId/review',
  'ordering: POST /oltr/:launchId/review',
  'ordering: EVALSHA find',
  'ordering: INSERT ordering.outbox',
  'ordering: COMMIT',
  'ordering: publish clinical-launch.events',
  'order-renderer: process clinical-launch.order-renderer',
  'order-renderer: INSERT order_renderer.document',
  'order-renderer: deliver documents',
  'order-renderer: POST',
  'order-renderer: publish clinical-launch.events',
  'audit-trail: publish clinical-launch.events',
  'audit-trail: process clinical-launch.audit-trail',
  'audit-trail: INSERT audit_trail.audit_event',
];

/** Tests the traces of whole launches. */
export function testTraces(traced: () => Traced): void {
  use(traced);

  it('produces one connected trace, whose id is the GUID of the launch', async () => {
    const books = await openBooks(system);
    const user = createUser();
    const session = await launch(user);
    await order({ ...user, launch: '', session });
    await books.close();
    await awaitStoredRows(session.launchId);
    const traceId = traceOf(session.launchId);
    const ofLaunch = () => collector.spans.filter((span) => span.traceId === traceId);
    // A span is exported when it ends, so the span of a request arrives after its child spans.
    await until(() => danglingOf([...connectedWith(traceId), ...ofLaunch()]).length === 0);

    const spans = connectedWith(traceId);
    expect([...stepsOf(spans)]).toEqual(expect.arrayContaining(wholeLaunch));
    const ofTrace = ofLaunch();
    expect(ofTrace.filter((span) => !spans.includes(span))).toEqual([]);
    expect(ofTrace.filter(({ parentSpanId }) => parentSpanId === '')).toEqual([
      expect.objectContaining({ name: 'POST /AccessApi/RequestLaunchUrl' }),
    ]);
    const audited = await auditedTraces(session.launchId);
    expect(new Set(audited.map((text) => text.slice(3, 35)))).toEqual(new Set([traceId]));
  });

  it('produces one connected trace even if the broker stops and a service is killed', async () => {
    const renderers = system.replicasOf('order-renderer');
    const books = await openBooks(system);
    const user = createUser();
    const session = await launch(user);
    await system.rabbitMq.kill();
    const ordered = order({ ...user, launch: '', session });
    const submitted = 'ordering: POST /oltr/:launchId/review';
    const traceId = traceOf(session.launchId);
    await until(() => stepsOf(connectedWith(traceId)).has(submitted));
    await Promise.all(renderers.map((renderer) => renderer.kill()));
    await system.rabbitMq.restart();
    await Promise.all(renderers.map((renderer) => renderer.start()));
    await ordered;
    await books.close();
    await awaitStoredRows(session.launchId);

    const spans = connectedWith(traceId);
    expect([...stepsOf(spans)]).toEqual(expect.arrayContaining(wholeLaunch));
    // The spans of a killed process are lost, but the later spans are in the trace.
    const ofTrace = collector.spans.filter((span) => span.traceId === traceId);
    const lost = danglingOf(ofTrace).filter((text) => !text.startsWith('order-renderer'));
    expect(lost).toEqual([]);
  });

  it('continues the trace of the PMS, and links it to the trace of the launch', async () => {
    const traceId = randomUUID().replaceAll('-', '');
    const user = createUser((path) =>
      path.startsWith('/AccessApi/') ? { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } : {},
    );
    const { launchId } = await launch(user);
    const find = (wanted: string) =>
      connectedWith(traceOf(launchId)).find(({ service, name }) => `${service}: ${name}` === wanted);
    const [request, redemption] = wholeLaunch.filter((step) => /RequestLaunchUrl|secureLaunch/.test(step));
    await until(() => find(request ?? '') !== undefined && find(redemption ?? '') !== undefined);
    expect(find(request ?? '')).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7' });
    expect(find(redemption ?? '')).toMatchObject({ traceId: traceOf(launchId) });
  });
}
