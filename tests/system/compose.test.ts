import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { services, settingsOf } from '../../tools/docs/settings.ts';
import { purposesOf } from './purposes-of.ts';
import { root } from './run-command.ts';

const compose = readFileSync(`${root}docker-compose.yml`, 'utf8');

/** Returns the block of the file that follows a header. */
const blockOf = (header: RegExp): string => {
  const [, block = ''] = header.exec(compose) ?? [];
  return block;
};

/**
 * Returns the purposes of the sealing keys in a service's settings, and the purposes of the mounted sealing
 * keys.
 */
function keysOf(service: string) {
  const block = blockOf(new RegExp(`\\n  ${service}:\\n((?: {4}.*\\n|\\n)+)`));
  const anchors = [...block.matchAll(/\*([a-z-]+)/g)].map(([, name]) =>
    blockOf(new RegExp(`: &${name}\\n((?: {2}.*\\n)+)`)),
  );
  const files = [block, ...anchors]
    .join('\n')
    .matchAll(/SEALING_KEYS_\w+_FILE: \/run\/secrets\/sealing-keys-([a-z-]+)/g);
  const mounted = block.matchAll(/sealing-keys-([a-z-]+)(?=[\n,\]])/g);
  const names = (matches: Iterable<RegExpExecArray>) => new Set([...matches].map(([, name = '']) => name));
  return { settings: names(files), mounted: names(mounted) };
}

type Container = {
  readonly environment?: Readonly<Record<string, string | number | null>>;
  readonly command?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly ports?: readonly string[];
};

const { services: containers, configs } = parse(compose, { merge: true }) as {
  readonly services: Readonly<Record<string, Container>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
};

type CollectorConfig = {
  readonly receivers?: Readonly<Record<string, unknown>>;
  readonly exporters?: Readonly<Record<string, unknown>>;
  readonly service: {
    readonly pipelines: Readonly<Record<string, { readonly exporters: readonly string[] }>>;
  };
};

/** Returns the configuration files that a container of OpenTelemetry's collector loads, in order. */
function collectorConfigsOf(name: string): CollectorConfig[] {
  const { command = [], configs: mounted = [] } = containers[name] ?? {};
  return command.map((option) => {
    const source = mounted.find(({ target }) => option === `--config=${target}`)?.source ?? '';
    return parse(readFileSync(`${root}${configs[source]?.file}`, 'utf8')) as CollectorConfig;
  });
}

/** The settings of a container's network, which no operator needs to change. */
const fixed = ['PORT', 'HOST', 'ADMIN_PORT'];
/** Returns true if a container's variable contains this setting, or the path of a file with the setting. */
const isFor = (passed: string, name: string) => passed === name || passed === `${name}_FILE`;
const containersThatCallTheEdge = ['order-renderer', 'audit-trail', 'developer-portal', 'simulators'];

describe('docker-compose.yml', () => {
  it.each([
    ['identity-provider', 3],
    ['launch-api', 1],
    ['launch-gateway', 1],
    ['ordering', 2],
    ['order-renderer', 3],
    ['audit-trail', 0],
    ['resource-api', 1],
    ['developer-portal', 1],
  ])('gives %s only the sealing keys for its own purposes', (service, count) => {
    const purposes = purposesOf(service);
    expect(purposes).toHaveLength(count);
    expect(keysOf(service)).toEqual({ settings: new Set(purposes), mounted: new Set(purposes) });
  });

  it.each([
    [
      'identity-provider',
      ['amqp-url', 'database-url', 'event-signing-keys', 'event-verification-keys', 'redis-url'],
    ],
    ['launch-api', ['event-signing-keys', 'redis-url']],
    ['launch-gateway', ['event-signing-keys', 'redis-url']],
    ['ordering', ['amqp-url', 'database-url', 'event-signing-keys', 'redis-url']],
    [
      'order-renderer',
      ['amqp-url', 'database-url', 'event-signing-keys', 'event-verification-keys', 'redis-url'],
    ],
    [
      'audit-trail',
      ['amqp-url', 'database-url', 'event-signing-keys', 'event-verification-keys', 'redis-url'],
    ],
    ['resource-api', ['event-signing-keys', 'redis-url']],
    ['developer-portal', []],
  ])('gives %s only its own users and keys', (service, files) => {
    const block = blockOf(new RegExp(`\\n  ${service}:\\n((?: {4}.*\\n|\\n)+)`));
    const mounted = [...block.matchAll(/\{ source: ([a-z-]+), target: ([a-z-]+) \}/g)];
    expect(new Set(mounted.map(([, , target]) => target))).toEqual(new Set(files));
    for (const [, source, target] of mounted) {
      expect(source).toBe(`${service}-${target}`);
      expect(compose).toContain(
        `  ${source}: { file: '\${SECRETS_DIR:-./deploy/docker/demo-secrets}/services/${service}/${target}' }`,
      );
    }
    expect(block).not.toMatch(/postgres-password|owner-database-url|operator-amqp-url|service-secrets/);
  });

  it.each(services)('passes to %s every setting that an operator may change', (service) => {
    const passed = Object.keys(containers[service]?.environment ?? {});
    const missing = settingsOf(service).filter((name) => !passed.some((each) => isFor(each, name)));
    expect(missing.filter((name) => !fixed.includes(name))).toEqual([]);
  });

  it('gives the edge the NODE_ENV of the services, so that production requires SERVER_ALLOWED_NETWORKS', () => {
    const { environment = {} } = containers['edge'] ?? {};
    expect(environment).toMatchObject({ NODE_ENV: '${NODE_ENV:-demo}', SERVER_ALLOWED_NETWORKS: null });
  });

  it.each(containersThatCallTheEdge)('lets the environment change PLATFORM_URL of %s', (service) => {
    expect(containers[service]?.environment?.['PLATFORM_URL']).toBe('${PLATFORM_URL:-http://edge:8080}');
  });

  it('stores the traces of the collector in the Jaeger that the dashboards link to', () => {
    const loaded = collectorConfigsOf('otel-collector');
    const exporters = loaded.map(({ service }) => service.pipelines['traces']?.exporters).at(-1) ?? [];
    expect(exporters.map((name) => loaded.at(-1)?.exporters?.[name])).toEqual([
      { endpoint: 'http://jaeger:4318' },
    ]);
    const [store] = collectorConfigsOf('jaeger');
    expect(store?.receivers).toEqual({ otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' } } } });
    expect(containers['jaeger']?.ports).toEqual(['127.0.0.1:16686:16686']);
    const { TRACES_URL: link } = containers['grafana']?.environment ?? {};
    expect(link).toBe('${TRACES_URL:-http://localhost:16686/trace}');
  });
});
