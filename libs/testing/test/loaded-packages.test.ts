import { describe, expect, it } from '@jest/globals';
import { packagesLoadedWith, services } from './sources.ts';

/** What every process serves, measures and logs with. */
const all = ['accepts', 'ajv', 'express', 'ioredis', 'pino', 'proxy-addr'];

const verification = ['jose', 'lru-cache'];
/** The clients of RabbitMQ and PostgreSQL. */
const parts = ['amqplib', 'kysely', 'pg'];

/**
 * The other packages that a service's process loads at its start. OpenTelemetry is loaded by `require`: see
 * open-telemetry.ts.
 */
const own: Readonly<Record<string, readonly string[]>> = {
  'audit-trail': [...verification, ...parts],
  'identity-provider': [...verification, ...parts, 'nunjucks'],
  'launch-api': verification,
  'launch-gateway': ['cookie'],
  'order-renderer': [...verification, ...parts, 'cookie'],
  ordering: [...parts, 'cookie', 'nunjucks'],
  'resource-api': verification,
};

describe('HTTP of Node', () => {
  it('is imported by no process of a service, because that loads undici', () => {
    const importing = services.filter((name) =>
      [...packagesLoadedWith(`services/${name}/src/main.ts`)].includes('node:http'),
    );
    expect(importing).toEqual([]);
  });
});

describe('the packages that the process of a service loads at its start', () => {
  it.each(services)('%s', (name) => {
    const loaded = packagesLoadedWith(`services/${name}/src/main.ts`);
    const packages = [...loaded].filter((one) => !one.startsWith('node:'));
    expect(packages.toSorted()).toEqual([...all, ...(own[name] ?? [])].toSorted());
  });
});
