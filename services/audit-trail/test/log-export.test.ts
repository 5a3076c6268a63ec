import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { logTelemetryWarnings } from '@clinical-launch/process/exporters';
import { type Measured, startMeasuring } from '@clinical-launch/testing/measured';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import protobuf from 'protobufjs';
import { startAuditTrail } from './running-audit-trail.ts';
import { aLaunch, anEvent, bairstow } from './some-events.ts';

/** The parts of OTLP that this test uses (opentelemetry/proto/logs/v1/logs.proto and its service). */
const otlp = protobuf.parse(
  `syntax = "proto3";
  message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeLogs { repeated LogRecord log_records = 2; }
  message LogRecord { fixed64 time_unix_nano = 1; int32 severity_number = 2; string severity_text = 3; AnyValue body = 5;
    repeated KeyValue attributes = 6; bytes trace_id = 9; string event_name = 12; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { string string_value = 1; int64 int_value = 3; double double_value = 4; }
  message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
  message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }`,
  { keepCase: true },
).root;
const ExportLogsServiceRequest = otlp.lookupType('ExportLogsServiceRequest');
const ExportLogsServiceResponse = otlp.lookupType('ExportLogsServiceResponse');

type Value = { readonly string_value?: string; readonly int_value?: string };
type KeyValue = { readonly key: string; readonly value: Value };
type LogRecord = {
  readonly time_unix_nano: string;
  readonly severity_text: string;
  readonly body: Value;
  readonly attributes: readonly KeyValue[];
  readonly trace_id: string;
  readonly event_name: string;
};
type Received = {
  readonly resource_logs: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_logs: readonly { readonly log_records: readonly LogRecord[] }[];
  }[];
};

const factsOf = (attributes: readonly KeyValue[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.string_value ?? value.int_value]));

/** Starts a collector that stores the log records of the requests that it accepts. */
async function startCollector() {
  const accepted: LogRecord[] = [];
  const requests: { path: string | undefined; key: unknown; service: unknown }[] = [];
  let status = 200;
  let partialSuccess = {};
  const server = createServer(async (request, response) => {
    const body = ExportLogsServiceRequest.decode(await buffer(request));
    const { resource_logs: logs } = ExportLogsServiceRequest.toObject(body, {
      longs: String,
      bytes: String,
      arrays: true,
    }) as Received;
    const service = factsOf(logs.flatMap(({ resource }) => resource.attributes))['service.name'];
    requests.push({ path: request.url, key: request.headers['x-key'], service });
    if (status === 200)
      accepted.push(...logs.flatMap((log) => log.scope_logs.flatMap((scope) => scope.log_records)));
    const answer = ExportLogsServiceResponse.encode({ partial_success: partialSuccess }).finish();
    response.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    requests,
    answer: (next: number) => {
      status = next;
    },
    reject: (rejected: number, message: string) => {
      partialSuccess = { rejected_log_records: rejected, error_message: message };
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const idsOf = (records: readonly LogRecord[]) =>
  records.map(({ attributes }) => factsOf(attributes)['cloudevents.event_id']);

describe('the export of audit events to a collector', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let running: Awaited<ReturnType<typeof startAuditTrail>>;
  const environment = () => ({
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%20secret',
  });
  const published: CloudEvent[] = [];
  const publish = async (...events: CloudEvent[]) => {
    published.push(...events);
    await running.publish(...events);
  };
  let measured: Measured;
  const oldestAge = async () => (await measured.read('clinical_launch.audit.export.oldest_age'))[''];
  const untilAccepted = () => until(() => collector.accepted.length >= published.length);

  beforeAll(async () => {
    collector = await startCollector();
    // The OpenTelemetry exporter reads the address from the environment.
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    measured = startMeasuring();
    running = await startAuditTrail({ environment: environment() });
    logTelemetryWarnings(running.logger);
  });
  afterAll(async () => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    await running.stop();
    measured.stop();
    await collector.stop();
  });

  it('sends each event as a log record with its client, user, practice and outcome', async () => {
    const launch = randomUUID();
    const refusal = { data: { reason: 'identifier_used', status: 409 }, correlationId: launch };
    await publish(aLaunch(launch), anEvent('launch.url.refused.v1', refusal));
    await untilAccepted();
    const [issued, refused] = collector.accepted;
    expect(issued).toMatchObject({
      event_name: 'launch.url.issued.v1',
      severity_text: 'INFO',
      time_unix_nano: `${Date.parse(published[0]?.time ?? '')}000000`,
    });
    expect(factsOf(issued?.attributes ?? [])).toMatchObject({
      'clinical_launch.client.id': 'pms',
      'clinical_launch.correlation_id': launch,
      'clinical_launch.practice': 'A81001',
      'client.address': '192.0.2.7',
      'user.name': 'DBairstow',
    });
    expect(refused).toMatchObject({
      severity_text: 'WARN',
      body: { string_value: 'launch.url.refused.v1: identifier_used' },
    });
    expect(factsOf(refused?.attributes ?? [])).toMatchObject({ 'http.response.status_code': '409' });
    expect(collector.requests[0]).toEqual({ path: '/v1/logs', key: 'a secret', service: 'audit-trail' });
  });

  it('contains neither the pseudonym of the patient nor the data of the event', () => {
    const text = JSON.stringify(collector.accepted);
    expect(text).not.toContain(bairstow.patient);
    expect(text).not.toContain('ttlSeconds');
  });

  it('keeps its position, logs an error and reports the age of the oldest event while the collector refuses the records', async () => {
    await until(async () => (await oldestAge()) === 0);
    collector.answer(400);
    const before = collector.requests.length;
    const at = (secondsAgo: number) => new Date(running.clock.now() - secondsAgo * 1000).toISOString();
    await publish(
      anEvent('launch.token.redeemed.v1', { time: at(900) }),
      anEvent('launch.token.redeemed.v1', { time: at(60) }),
    );
    await until(() => collector.requests.length > before);
    await until(() => running.lines.some((line) => line.includes('"work":"export logs"')));
    expect(await oldestAge()).toBe(900);
    collector.answer(200);
    await untilAccepted();
    expect(idsOf(collector.accepted)).toEqual(published.map(({ id }) => id));
    await until(async () => (await oldestAge()) === 0);
  });

  it('logs how many records of an accepted batch the collector rejected, and does not send them again', async () => {
    collector.reject(1, 'the record is too large');
    await publish(aLaunch(randomUUID()));
    await until(() => running.lines.some((line) => line.includes('the record is too large')));
    collector.reject(0, '');
    const warning = running.lines.find((line) => line.includes('OpenTelemetry warns')) ?? '';
    const { level, warning: text }: { level: number; warning: string } = JSON.parse(warning);
    expect(level).toBe(40);
    expect(text).toContain('{"rejectedLogRecords":1,"errorMessage":"the record is too large"}');
    expect(warning).not.toContain('DBairstow');
    await publish(anEvent('launch.token.redeemed.v1'));
    await untilAccepted();
    expect(idsOf(collector.accepted)).toEqual(published.map(({ id }) => id));
  });

  it('continues after the last accepted record if another replica takes over', async () => {
    const replica = await startAuditTrail({ shared: running.storage, environment: environment() });
    try {
      const late = anEvent('launch.token.redeemed.v1');
      published.push(late);
      await replica.publish(late);
      await untilAccepted();
      expect(idsOf(collector.accepted)).toEqual(published.map(({ id }) => id));
    } finally {
      await replica.stop();
    }
  });
});
