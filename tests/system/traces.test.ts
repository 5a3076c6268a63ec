import { readFileSync } from 'node:fs';
import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { startCollector } from '../faults/collector.ts';
import { root, run } from './run-command.ts';

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** Starts a process with two endpoints, and returns its address and its log. */
async function startTraced(environment: NodeJS.ProcessEnv) {
  const traced = run('node', ['tests/system/traced-service.ts'], {
    PORT: '0',
    ADMIN_PORT: '0',
    HOST: '127.0.0.1',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...environment,
  });
  const [, url = ''] = await traced.said(/^ready traced (\S+)/m);
  const log = () =>
    traced
      .output()
      .split('\n')
      // The text after the last line break is an incomplete line, or empty.
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line): Record<string, unknown> => JSON.parse(line));
  const modules = async () => (await (await fetch(`${url}/modules`)).json()) as string[];
  /** Stops the process, which first exports its remaining spans. */
  const stop = async () => {
    traced.child.kill('SIGTERM');
    await traced.exited;
  };
  return { url, log, modules, stop };
}

const sdk = /@opentelemetry\/(sdk-trace|exporter-trace|otlp|context-async-hooks)/;

describe('a process without a collector', () => {
  it('loads no OpenTelemetry SDK, but logs trace and span ids', async () => {
    const { modules, log } = await startTraced({});
    expect((await modules()).filter((path) => sdk.test(path))).toEqual([]);
    await until(() => log().some(({ msg }) => msg === 'request answered'));
    const line = log().find(({ msg }) => msg === 'request answered');
    expect(line).toMatchObject({
      service: 'traced',
      version,
      client: 'pms-1',
      trace_id: String(line?.['correlationId']).replaceAll('-', ''),
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });
});

describe('a process with a collector', () => {
  it('exports every span, even if the caller’s trace is not sampled', async () => {
    const collector = await startCollector();
    const { url, modules, log } = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    expect((await modules()).filter((path) => sdk.test(path))).not.toEqual([]);
    expect((await fetch(`${url}/fails`)).status).toBe(500);
    const parent = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` };
    await fetch(`${url}/modules`, { headers: parent });
    await until(() => collector.spans.some(({ traceId }) => traceId === 'a'.repeat(32)));
    expect(collector.spans.map(({ name, hasFailed }) => ({ name, hasFailed }))).toEqual([
      { name: 'GET /modules', hasFailed: false },
      { name: 'call', hasFailed: true },
      { name: 'GET /fails', hasFailed: true },
      { name: 'GET /modules', hasFailed: false },
    ]);
    for (const attribute of ['deployment.environment.name', 'service.version', 'service.instance.id'])
      expect(collector.text()).toContain(attribute);
    expect(collector.text()).not.toContain('Whitfield');
    // The log lines of a request contain the ids of its span.
    const failed = collector.spans.find(({ name }) => name === 'GET /fails');
    const lines = () => log().filter(({ trace_id: traceId }) => traceId === failed?.traceId);
    await until(() => lines().length >= 2);
    expect(lines().map(({ span_id: spanId }) => spanId)).toEqual(lines().map(() => failed?.spanId));
    await collector.stop();
  });

  it.each([
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    { OTEL_TRACES_SAMPLER: 'always_off' },
  ])('exports no span with %o', async (sampler) => {
    const collector = await startCollector();
    const sampled = { ...sampler, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const { url, stop } = await startTraced({ ...sampled, OTEL_METRICS_EXPORTER: 'none' });
    expect((await fetch(`${url}/fails`)).status).toBe(500);
    await stop();
    expect(collector.spans).toEqual([]);
    await collector.stop();
  });

  it('answers requests and logs lost spans and metrics while the collector is down', async () => {
    const { modules, log } = await startTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    });
    await modules();
    for (const lost of ['spans are lost', 'metrics are lost'])
      await until(() => log().some(({ msg }) => String(msg).startsWith(lost)));
    expect(await modules()).not.toEqual([]);
  });
});
