import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { prometheusFile } from '../monitoring/rule-files.ts';
import { connects, matches, ofKind, type ServiceSpec, settingsIn, workloadsOf } from './objects.ts';
import { render, renderWith, root } from './render.ts';

const objects = render('demo-telemetry');
const workloads = workloadsOf(objects);
const services = ofKind<ServiceSpec>(objects, 'Service');

/** Returns the workloads behind a Service that NetworkPolicies hide from another workload, or that it lacks. */
function unreachable(from: string, host: string, port: number): readonly string[] {
  const client = workloads.find(({ name }) => name === from);
  const service = services.find(({ name }) => name === host);
  const servers = workloads.filter(({ labels }) =>
    matches({ matchLabels: service?.spec.selector ?? {} }, labels),
  );
  if (client === undefined || service === undefined || servers.length === 0) return [`${host}:${port}`];
  // RabbitMQ's port of metrics is in no manifest, and its Service is headless.
  const isOpen = service.spec.ports.some((open) => open.port === port) || host === 'rabbitmq';
  return servers.flatMap((server) =>
    isOpen && connects(objects, client, server, port) ? [] : [`${from} to ${server.name}:${port}`],
  );
}

describe('the overlay demo-telemetry', () => {
  it('lets Prometheus reach every target, and Alertmanager', () => {
    const text = prometheusFile('prometheus.yml');
    const found = [...text.matchAll(/names: \[([\w-]+)\], type: A, port: (\d+)/g)];
    const listed = [...text.matchAll(/'([\w-]+):(\d+)'/g)];
    expect([found.length, listed.length]).toEqual([2, 5]);
    const targets = [...found, ...listed].map(([, host = '', port]) => [host, Number(port)] as const);
    expect(targets.flatMap(([host, port]) => unreachable('prometheus', host, port))).toEqual([]);
  });

  it('lets Prometheus find the Pods of every service and of the edge, even those that are not ready', () => {
    const pods = ['service-metrics', 'edge-metrics'].flatMap((name) => {
      const { spec } = services.find((service) => service.name === name) ?? {};
      expect(spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
      return workloads.filter(({ labels }) => matches({ matchLabels: spec?.selector ?? {} }, labels));
    });
    const scaled = ofKind<object>(objects, 'HorizontalPodAutoscaler').map(({ name }) => name);
    expect(pods.map(({ name }) => name)).toEqual(expect.arrayContaining(scaled));
  });

  it('lets Grafana reach its data sources, and traces reach Jaeger', () => {
    const sources = settingsIn(objects, 'grafana')['datasources.yml'] ?? '';
    const targets = [...sources.matchAll(/url: http:\/\/([\w-]+):(\d+)/g)];
    expect(targets.length).toBe(2);
    const lost = targets.flatMap(([, host = '', port]) => unreachable('grafana', host, Number(port)));
    expect(lost).toEqual([]);
    expect(unreachable('launch-api', 'otel-collector', 4318)).toEqual([]);
    expect(unreachable('otel-collector', 'jaeger', 4318)).toEqual([]);
  });

  type Container = { readonly image?: string; readonly command?: readonly string[] };
  const { services: containers } = parse(readFileSync(`${root}docker-compose.yml`, 'utf8'), {
    merge: true,
  }) as {
    readonly services: Readonly<Record<string, Container>>;
  };

  it.each(['otel-collector', 'prometheus', 'alertmanager', 'jaeger', 'grafana'])(
    'runs %s with the image and the options of Compose',
    (name) => {
      const [main] = workloads.find((workload) => workload.name === name)?.containers ?? [];
      const args = main?.args?.filter((option) => option !== '--cluster.listen-address=');
      const { image, command } = containers[name] ?? {};
      expect({ image: main?.image, args }).toEqual({ image, args: command });
    },
  );
});

describe('the component telemetry', () => {
  it('adds no object of a kind that a plain cluster does not have', () => {
    const kinds = new Set(renderWith('telemetry').map(({ apiVersion }) => apiVersion));
    expect([...kinds].filter((version) => version.includes('monitoring.coreos.com'))).toEqual([]);
  });
});
