import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { run } from '../../../tests/system/run-command.ts';
import { type ServiceName, serviceNames } from '../src/access.ts';
import { type SeparatedParts, startSeparatedParts } from './separated-parts.ts';

let parts: SeparatedParts;
beforeAll(async () => {
  parts = await startSeparatedParts();
});
afterAll(() => parts.stop());

const registry = fileURLToPath(new URL('../../../sandbox/simulators/registry.json', import.meta.url));

/** The paths of each service. `/idp` is removed before a request is forwarded. */
const paths: readonly (readonly [string, ServiceName])[] = [
  ['/idp/', 'identity-provider'],
  ['/AccessApi/', 'launch-api'],
  ['/secureLaunch', 'launch-gateway'],
  ['/oltr/', 'ordering'],
  ['/orders/', 'order-renderer'],
  ['/audit/', 'audit-trail'],
  ['/resource/', 'resource-api'],
];

/** Routes each path to its service, as the edge does, and all other paths to the simulators. */
async function startEdge(portOf: (service: ServiceName | 'simulators') => number) {
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    const [prefix = '', service = 'simulators' as const] =
      paths.find(([start]) => url.startsWith(start)) ?? [];
    const path = service === 'identity-provider' ? url.slice(prefix.length - 1) : url;
    const { method, headers } = request;
    const passed = sendRequest(
      { host: '127.0.0.1', port: portOf(service), path, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/**
 * Scrapes `/metrics` at the admin port that a process printed. The metrics contain figures of PostgreSQL and
 * Redis, which the user of the service may read.
 */
async function metricsOf(output: string): Promise<string> {
  const [, adminUrl = ''] = /admin (http:\S+)/.exec(output) ?? [];
  return (await fetch(`${adminUrl}/metrics`)).text();
}

describe('the platform with a separate user for each service', () => {
  it('plays both launches without any denial by Redis or RabbitMQ', async () => {
    const names = [...serviceNames, 'simulators'] as const;
    const ports = new Map(
      await Promise.all(names.map(async (name) => [name, await findFreePort()] as const)),
    );
    const portOf = (name: ServiceName | 'simulators') => ports.get(name) ?? 0;
    const edge = await startEdge(portOf);
    try {
      const shared = {
        NODE_ENV: 'demo',
        HOST: '127.0.0.1',
        ADMIN_PORT: '0',
        PUBLIC_URL: edge.url,
        PLATFORM_URL: edge.url,
        IDENTITY_PROVIDER_URL: `http://127.0.0.1:${portOf('identity-provider')}`,
        REGISTRY_FILE: registry,
        LOG_LEVEL: 'warn',
      };
      const started = names.map((name) => {
        const file =
          name === 'simulators' ? 'sandbox/simulators/src/main.ts' : `services/${name}/src/main.ts`;
        const own = name === 'simulators' ? {} : parts.addressesOf(name);
        return run(process.execPath, [file], { ...shared, PORT: String(portOf(name)), ...own });
      });
      await Promise.all(started.map((process) => process.said(/^ready /m)));
      const play = run(process.execPath, ['tools/platform/src/play.ts'], { BASE_URL: edge.url });
      expect({ code: await play.exited, output: play.output() }).toMatchObject({
        code: 0,
        output: expect.stringContaining('the audit trail lists the events of the launch'),
      });
      const measured = await metricsOf(started[names.indexOf('ordering')]?.output() ?? '');
      expect(measured).toMatch(/^postgresql_backends\{.+\} [1-9]/m);
      expect(measured).toMatch(/^postgresql_db_size_bytes\{.+\} [1-9]/m);
      expect(measured).toMatch(/^redis_memory_used_bytes\{.+\} [1-9]/m);
      const admin = await connectRedis(parts.redisAdmin);
      const denials = admin instanceof Redis ? await admin.acl('LOG') : ['not one Redis'];
      admin.disconnect();
      expect(denials).toEqual([]);
      expect(started.map((process) => process.output()).join('')).not.toMatch(/ACCESS.REFUSED|NOPERM/);
    } finally {
      edge.server.closeAllConnections();
      edge.server.close();
    }
  });
});
