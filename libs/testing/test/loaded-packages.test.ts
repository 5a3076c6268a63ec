import { describe, expect, it } from '@jest/globals';
import { loadedWith, packageOf, services } from './sources.ts';

/** The packages that every process uses for HTTP, metrics and logs. */
const all = ['accepts', 'ajv', 'express', 'pino', 'proxy-addr'];

const verification = ['jose', 'lru-cache'];
/** The clients of RabbitMQ and PostgreSQL. */
const parts = ['amqplib', 'kysely', 'pg'];

/**
 * The other packages that a service loads at its start. OpenTelemetry is not listed, because it is loaded by
 * `require` (see open-telemetry.ts).
 */
const own: Readonly<Record<string, readonly string[]>> = {
  'audit-trail': [...verification, 'ioredis', ...parts],
  portal: [...verification, 'cookie', 'jsonc-parser', 'nunjucks'],
  'identity-provider': [...verification, 'ioredis', ...parts, 'nunjucks'],
  'launch-api': [...verification, 'ioredis'],
  'launch-gateway': ['cookie', 'ioredis'],
  'order-renderer': ['ioredis', ...parts, 'cookie', 'nunjucks'],
  ordering: ['ioredis', ...parts, 'cookie', 'nunjucks'],
  'resource-api': [...verification, 'ioredis'],
};

describe('node:http', () => {
  it('is not imported by any service, because the import loads undici', () => {
    const importing = services.filter((name) =>
      loadedWith(`services/${name}/src/main.ts`).packages.has('node:http'),
    );
    expect(importing).toEqual([]);
  });
});

describe('the process of a service', () => {
  it.each(Object.keys(own))('loads only the listed packages at its start: %s', (name) => {
    const loaded = loadedWith(`${name === 'portal' ? 'sandbox' : 'services'}/${name}/src/main.ts`);
    const packages = [...loaded.packages].filter((one) => !one.startsWith('node:'));
    expect(packages.toSorted()).toEqual([...all, ...(own[name] ?? [])].toSorted());
    expect(Object.keys(own)).toEqual(expect.arrayContaining(services));
  });

  it.each([...services.map((name) => `services/${name}/src/main.ts`), 'tools/platform/src/start.ts'])(
    'loads no source of the sandbox at its start: %s',
    (path) => {
      const loaded = [...loadedWith(path).sources];
      expect(loaded.filter((source) => source.startsWith('sandbox/'))).toEqual([]);
      expect(loaded.map(packageOf)).toContain('libs/process');
    },
  );

  it('loads the provider of the demo’s staff only when someone signs in', () => {
    const { packages } = loadedWith('sandbox/simulators/src/simulators.ts');
    expect([...packages]).toContain('nunjucks');
    expect([...packages]).not.toContain('oidc-provider');
  });
});
