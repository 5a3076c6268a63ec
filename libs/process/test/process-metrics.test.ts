import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { sendJson } from '@clinical-launch/http/answer';
import { createAdminApp, listen } from '@clinical-launch/http/server';
import { meter } from '@clinical-launch/runtime/metrics';
import { metrics } from '@clinical-launch/runtime/open-telemetry';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { createRecordedLogger, createTestDependencies } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { issueTicket, redeemTicket } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { serveRoutes } from '../../http/test/serve-routes.ts';
import { countTickets } from '../src/part-metrics.ts';
import { startMetrics } from '../src/process-metrics.ts';
import { readTelemetry } from '../src/telemetry-settings.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  metrics.disable();
});
afterAll(() => metrics.disable());

/** Starts the metrics of a process, its admin port, and a service with one route. */
async function startMeasured(environment: Readonly<Record<string, string>> = {}) {
  const { logger } = createRecordedLogger();
  const measured = startMetrics({ service: 'launch-api', telemetry: readTelemetry(environment), logger });
  const admin = await listen(createAdminApp({}, measured.answer), { port: 0, host: '127.0.0.1' });
  const served = await serveRoutes((route) => [
    route('/launches/:guid', { GET: ({ response }) => sendJson(response, {}) }),
  ]);
  stops.push(...[served, admin, measured].map((one) => () => one.stop()));
  return {
    request: (headers: Record<string, string> = {}) => fetch(`${served.url}/launches/1`, { headers }),
    scrape: async (accept = 'text/plain') => {
      const answer = await fetch(`http://127.0.0.1:${admin.port}/metrics`, { headers: { accept } });
      return { type: answer.headers.get('content-type') ?? '', text: await answer.text() };
    },
  };
}

const openMetrics =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5';
const service = 'service_namespace="clinical-launch",service_name="launch-api"';
const route = `${service},http_request_method="GET",http_route="/launches/:guid",http_response_status_code="200"`;

describe('the metrics of a process', () => {
  it('have the names and units that published dashboards use', async () => {
    const { request, scrape } = await startMeasured();
    await request();
    const { type, text } = await scrape();
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain(`\nhttp_server_request_duration_seconds_bucket{${route},le="+Inf"} 1\n`);
    expect(text).toContain(`\nhttp_server_request_duration_seconds_count{${route}} 1\n`);
    expect(text).toMatch(
      /^target_info\{service_namespace="clinical-launch",service_name="launch-api",service_version="\d+\.\d+\.\d+",service_instance_id="[0-9a-f-]{36}"\} 1$/m,
    );
    for (const name of [
      `process_cpu_time_seconds_total{${service},cpu_mode="user"}`,
      `process_memory_usage_bytes{${service}}`,
      `v8js_memory_heap_used_bytes{${service},v8js_heap_space_name="old_space"}`,
      `nodejs_eventloop_utilization_ratio{${service}}`,
    ])
      expect(text).toContain(`\n${name} `);
  });

  it('include a utilization below 1 in the first collection of a process that has waited', async () => {
    const { scrape } = await startMeasured();
    const { idle } = performance.eventLoopUtilization();
    await until(() => performance.eventLoopUtilization().idle > idle);
    const { text } = await scrape();
    const [, busy] = /^nodejs_eventloop_utilization_ratio\{[^}]*\} (\S+)$/m.exec(text) ?? [];
    expect(Number(busy)).toBeLessThan(1);
  });

  it('write bucket bounds as floats in both formats, so that an alert rule matches both formats', async () => {
    const { request, scrape } = await startMeasured();
    await request();
    for (const accept of ['text/plain', openMetrics])
      expect((await scrape(accept)).text).toContain(`_bucket{${route},le="1.0"} 1`);
  });

  it('link a bucket to the trace of its latest request, but only in the OpenMetrics format', async () => {
    const { request, scrape } = await startMeasured();
    await request({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    const { type, text } = await scrape(openMetrics);
    expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(text).toMatch(
      new RegExp(`_bucket\\{.*\\} \\d+ # \\{trace_id="${traceId}",span_id="[0-9a-f]{16}"\\} 0?\\.?\\d`),
    );
    expect(text).toMatch(/\n# EOF\n$/);
    expect((await scrape()).text).not.toContain(traceId);
  });

  it('do not link to traces that are not sampled', async () => {
    const { request, scrape } = await startMeasured();
    const other = traceId.replaceAll('4', 'a');
    await request({ traceparent: `00-${other}-00f067aa0ba902b7-00` });
    expect((await scrape(openMetrics)).text).not.toContain(other);
  });

  it('escape the values of labels', async () => {
    const { scrape } = await startMeasured();
    meter().createCounter('a.count', { unit: '{thing}' }).add(2, { 'a.name': 'one "two" \\ \n three' });
    expect((await scrape()).text).toContain(
      `\na_count_total{${service},a_name="one \\"two\\" \\\\ \\n three"} 2\n`,
    );
    expect((await scrape(openMetrics)).text).toContain('\n# TYPE a_count counter\n');
  });
});

describe('pushed metrics', () => {
  it('are sent by OTLP to the configured endpoint, with the configured headers, when the process stops', async () => {
    const received: { path: string; type: string; headers: object; body: Buffer }[] = [];
    const collector = createServer(async (request, response) => {
      const { url: path = '', headers } = request;
      const type = headers['content-type'] ?? '';
      received.push({ path, type, headers, body: await buffer(request) });
      response.end();
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
    try {
      const { request } = await startMeasured({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_METRIC_EXPORT_INTERVAL: '60000',
        OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%20secret,X-Tenant=bm9ydGg=',
        OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'X-Key=for%20metrics',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'X-Key=for%20spans',
      });
      await request();
      for (const stop of stops.splice(0)) await stop();
      await until(() => received.length > 0);
      expect(received[0]).toMatchObject({
        path: '/v1/metrics',
        type: 'application/x-protobuf',
        headers: { 'x-key': 'for metrics', 'x-tenant': 'bm9ydGg=' },
      });
      for (const text of ['http.server.request.duration', 'service.instance.id', 'service.version'])
        expect(received[0]?.body.includes(text)).toBe(true);
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
      collector.close();
    }
  });

  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  it.each([
    [{}, { sendsSpans: false, pushesMetrics: false }],
    [endpoint, { sendsSpans: true, pushesMetrics: true }],
    [
      { ...endpoint, OTEL_SDK_DISABLED: 'true' },
      { sendsSpans: false, pushesMetrics: false },
    ],
    [
      { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
      { sendsSpans: false, pushesMetrics: true },
    ],
    [
      { ...endpoint, OTEL_METRICS_EXPORTER: 'none' },
      { sendsSpans: true, pushesMetrics: false },
    ],
    [
      { ...endpoint, OTEL_METRICS_EXPORTER: 'prometheus' },
      { sendsSpans: true, pushesMetrics: false },
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' },
      { sendsSpans: true, pushesMetrics: false },
    ],
  ])('and spans are sent as configured by %o', (environment, sent) => {
    expect(readTelemetry(environment)).toMatchObject(sent);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be an http or https address'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'must be http/protobuf'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a secret', 'OTEL_EXPORTER_OTLP_HEADERS must be name=value'],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/missing.pem', 'OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'must be one of none, gzip'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'OTEL_EXPORTER_OTLP_TIMEOUT must be'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=1,north', 'OTEL_RESOURCE_ATTRIBUTES must be name=value'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '10', 'OTEL_METRIC_EXPORT_INTERVAL must be'],
    ['OTEL_TRACES_SAMPLER', 'parentbased_always_on', 'must be one of always_on, always_off, traceidratio'],
    ['OTEL_TRACES_SAMPLER_ARG', '2', 'OTEL_TRACES_SAMPLER_ARG must be'],
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'OTEL_TRACES_EXPORTER must be'],
  ])('cannot be configured with %s=%s: %s', (name, value, reason) => {
    expect(() => readTelemetry({ [name]: value })).toThrow(reason);
  });
});

describe('the metrics of tickets', () => {
  it('count issued tickets with their successors, and redemptions by outcome', async () => {
    const measured = startMeasuring();
    const tickets = countTickets(createTestDependencies(new TestClock()).tickets);
    const ticket = await issueTicket(tickets);
    const successor = { kind: 'launch-session', ttlSeconds: 60 } as const;
    for (const _attempt of [1, 2]) await redeemTicket(tickets, ticket, { successor });
    await redeemTicket(tickets, 'unknown');
    expect(await measured.read('clinical_launch.tickets.issued')).toEqual({
      'launch-token': 1,
      'launch-session': 1,
    });
    expect(await measured.read('clinical_launch.tickets.redeemed')).toEqual({
      'launch-token redeemed': 1,
      'launch-token used': 1,
      'launch-token unknown': 1,
    });
    measured.stop();
  });
});
