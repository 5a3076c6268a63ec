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
  'developer-portal': [...verification, 'cookie', 'jsonc-parser', 'nunjucks'],
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
  it.each(services)('loads only the listed packages at its start: %s', (name) => {
    const loaded = loadedWith(`services/${name}/src/main.ts`);
    const packages = [...loaded.packages].filter((one) => !one.startsWith('node:'));
    expect(packages.toSorted()).toEqual([...all, ...(own[name] ?? [])].toSorted());
  });

  it.each(services.filter((name) => name !== 'developer-portal'))(
    'loads no source of the developer portal or of its conformance runs: %s',
    (name) => {
      const { sources } = loadedWith(`services/${name}/src/main.ts`);
      const loaded = new Set([...sources].map(packageOf));
      expect(loaded).not.toContain('services/developer-portal');
      expect(loaded).not.toContain('libs/conformance');
    },
  );
});
