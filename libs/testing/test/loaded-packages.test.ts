import { describe, expect, it } from '@jest/globals';
import { packagesLoadedWith, services } from './sources.ts';

/** The packages that every process uses for HTTP, metrics and logs. */
const all = ['accepts', 'ajv', 'express', 'ioredis', 'pino', 'proxy-addr'];

const verification = ['jose', 'lru-cache'];
/** The clients of RabbitMQ and PostgreSQL. */
const parts = ['amqplib', 'kysely', 'pg'];

/**
 * The other packages that a service loads at its start. OpenTelemetry is not listed, because it is loaded by
 * `require` (see open-telemetry.ts).
 */
const own: Readonly<Record<string, readonly string[]>> = {
  'audit-trail': [...verification, ...parts],
  'identity-provider': [...verification, ...parts, 'nunjucks'],
  'launch-api': verification,
  'launch-gateway': ['cookie'],
  'order-renderer': [...parts, 'cookie', 'nunjucks'],
  ordering: [...parts, 'cookie', 'nunjucks'],
  'resource-api': verification,
};

describe('node:http', () => {
  it('is not imported by any service, because the import loads undici', () => {
    const importing = services.filter((name) =>
      [...packagesLoadedWith(`services/${name}/src/main.ts`)].includes('node:http'),
    );
    expect(importing).toEqual([]);
  });
});

describe('the process of a service', () => {
  it.each(services)('loads only the listed packages at its start: %s', (name) => {
    const loaded = packagesLoadedWith(`services/${name}/src/main.ts`);
    const packages = [...loaded].filter((one) => !one.startsWith('node:'));
    expect(packages.toSorted()).toEqual([...all, ...(own[name] ?? [])].toSorted());
  });
});
