import { randomUUID } from 'node:crypto';
import { watchCertificates } from '@clinical-launch/process/certificates';
import { startMetrics } from '@clinical-launch/process/process-metrics';
import { readTelemetry } from '@clinical-launch/process/telemetry-settings';
import { metrics } from '@clinical-launch/runtime/open-telemetry';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from '../running-platform.ts';
import { dashboardExpressions, rules, selectorsIn } from './rule-files.ts';

/** The series of other exporters that our panels and rules use. The fault tests scrape all of them. */
const exportedByOthers = {
  prometheus: ['up', 'target_info'],
  rabbitmq: [
    'rabbitmq_channels',
    'rabbitmq_connections',
    'rabbitmq_detailed_queue_messages',
    'rabbitmq_disk_space_available_bytes',
    'rabbitmq_disk_space_available_limit_bytes',
    'rabbitmq_global_messages_delivered_total',
    'rabbitmq_global_messages_received_total',
    'rabbitmq_process_resident_memory_bytes',
    'rabbitmq_resident_memory_limit_bytes',
  ],
  haproxy: [
    'haproxy_backend_redispatch_warnings_total',
    'haproxy_backend_response_errors_total',
    'haproxy_frontend_http_responses_total',
  ],
};

type Meter = ReturnType<typeof metrics.getMeter>;

/**
 * Returns a meter that gives each instrument a first value, because a scrape omits instruments without
 * values.
 */
function withFirstValues(meter: Meter): Meter {
  return new Proxy(meter, {
    get: (target, method: keyof Meter) => {
      const create = target[method] as (...args: unknown[]) => object;
      if (!method.startsWith('create')) return create.bind(target);
      return (...args: unknown[]) => {
        const instrument = create.apply(target, args);
        if ('addCallback' in instrument)
          (instrument as ReturnType<Meter['createObservableGauge']>).addCallback((result) =>
            result.observe(0),
          );
        else if ('record' in instrument) (instrument as ReturnType<Meter['createHistogram']>).record(0);
        else (instrument as ReturnType<Meter['createCounter']>).add(0);
        return instrument;
      };
    },
  });
}

const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

let scraped = '';
beforeAll(async () => {
  const { logger } = createRecordedLogger();
  const measured = startMetrics({ service: 'platform', telemetry: readTelemetry({}), logger });
  const provider = metrics.getMeterProvider();
  metrics.disable();
  metrics.setGlobalMeterProvider({ getMeter: (...args) => withFirstValues(provider.getMeter(...args)) });
  stops.push(
    () => measured.stop(),
    () => metrics.disable(),
  );
  const own = `test-${randomUUID()}`;
  const platform = await startPlatformForTest({
    environment: {
      REDIS_URL: process.env['TEST_REDIS_URL'],
      REDIS_PREFIX: own,
      AMQP_URL: process.env['TEST_AMQP_URL'],
      AMQP_NAMESPACE: own,
      // Without a collector at this address, the export fails, but its metric exists.
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    },
    answerMetrics: measured.answer,
  });
  stops.push(() => platform.stop());
  const certificates = watchCertificates(['/missing.pem'], logger);
  stops.push(() => certificates.stop());
  scraped = await (await fetch(`${platform.adminUrl}/metrics`)).text();
});

const expressions = [...dashboardExpressions(), ...rules()].map(({ expr }) => expr);
const read = new Set(expressions.flatMap(selectorsIn).map((selector) => selector.replace(/\{.*/s, '')));

describe('the series used by panels and rules', () => {
  it('are exported by our services, recorded by a rule or listed for another exporter', () => {
    const exported = new Set([
      ...[...scraped.matchAll(/^\w+/gm)].map(([name]) => name),
      ...rules().flatMap(({ record }) => record ?? []),
      ...Object.values(exportedByOthers).flat(),
    ]);
    expect(read.size).toBeGreaterThan(50);
    expect([...read].filter((name) => !exported.has(name))).toEqual([]);
  });

  it.each(Object.entries(exportedByOthers))(
    'include each series that is listed here for %s',
    (_exporter, names) => {
      expect(names.filter((name) => !read.has(name))).toEqual([]);
    },
  );
});
