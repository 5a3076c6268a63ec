import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ed25519KeyOf } from '@clinical-launch/crypto/ed25519-keys';
import {
  createClientSecret,
  hashClientSecret,
} from '@clinical-launch/identity-provider/domain/client-secrets';
import { defaultNamespaces } from '@clinical-launch/pms-client';
import { systemClock } from '@clinical-launch/runtime/clock';
import { platformNamesOf } from '@clinical-launch/simulators/platform-names';
import { demoClients, simulators } from '@clinical-launch/simulators/simulators';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { fixedRegistry, readRegistryFile } from '@clinical-launch/trust/registry-file';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mainOf, root, run } from './run-command.ts';

const demoRegistry = `${root}sandbox/simulators/registry.json`;
const registryOfDemo = readRegistryFile(demoRegistry, { publicUrl: 'https://launch.example' });
/** The paths that exist in the demo but not in production. */
const simulatedPaths = pathsOf(
  simulators(
    {
      publicUrl: 'https://launch.example',
      platformUrl: 'https://launch.example',
      names: platformNamesOf({ audience: 'api://x', namespaces: defaultNamespaces }),
    },
    { clock: systemClock, registry: fixedRegistry(registryOfDemo) },
  ),
);
const sealingKeys = `k1:${randomBytes(32).toString('base64url')}`;

let folder: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'production-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

/** The settings of every service in production, with the mistakes of an operator who copied the demo. */
const demoInProduction: NodeJS.ProcessEnv = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'http://launch.example',
  IDENTITY_PROVIDER_URL: 'http://identity-provider:8080',
  REGISTRY_FILE: demoRegistry,
  REDIS_URL: 'redis://127.0.0.1:1',
  AMQP_URL: 'amqp://127.0.0.1:1',
  DATABASE_URL: 'postgres://127.0.0.1:1/none',
};
const withRegistry = [
  'identity-provider',
  'launch-api',
  'resource-api',
  'audit-trail',
  'ordering',
  'order-renderer',
  'developer-portal',
];
/** The suffixes of each service's settings for sealing keys. */
const sealingSettings: Readonly<Record<string, readonly string[]>> = {
  'identity-provider': ['DESKTOP', 'ACCESS_TOKEN', 'SIGNING_KEY'],
  'launch-api': ['LAUNCH'],
  'launch-gateway': ['LAUNCH'],
  ordering: ['LAUNCH', 'ORDER'],
  'order-renderer': ['LAUNCH', 'ORDER', 'CALLBACK'],
  'resource-api': ['ACCESS_TOKEN'],
  'audit-trail': [],
  'developer-portal': ['CALLBACK'],
};
const services = [...withRegistry, 'launch-gateway'];
/** Each service's settings for keys other than sealing keys. */
const otherKeys: Readonly<Record<string, readonly string[]>> = {
  'identity-provider': ['PATIENT_PSEUDONYM_KEY'],
  'launch-api': ['PATIENT_PSEUDONYM_KEY'],
  ordering: ['PATIENT_PSEUDONYM_KEY'],
  'audit-trail': ['PATIENT_PSEUDONYM_KEY', 'AUDIT_SIGNING_KEY'],
};
const demoSecrets = `${root}deploy/docker/demo-secrets`;
/** Returns the names of a service's own secret files. The developer portal uses no server and has none. */
const secretFilesOf = (service: string) =>
  existsSync(join(demoSecrets, 'services', service))
    ? readdirSync(join(demoSecrets, 'services', service))
    : [];
/** Returns the setting for a file of the secrets, such as `REDIS_URL` for `services/ordering/redis-url`. */
const settingOf = (file: string) => basename(file).toUpperCase().replaceAll('-', '_');

describe('a service', () => {
  it.each(services)(
    '%s in production refuses to start with unset sealing keys, an http address or the demo registry, and reports every problem',
    async (name) => {
      const start = run(process.execPath, [mainOf(name)], demoInProduction);
      expect(await start.exited).toBe(1);
      const missing = [...start.output().matchAll(/SEALING_KEYS_([A-Z_]+) is not set/g)];
      expect(missing.map(([, purpose]) => purpose)).toEqual(sealingSettings[name]);
      expect(start.output()).toContain('PUBLIC_URL must be an https address in production');
      for (const problem of [
        'realms[0].clients[0].clientId is a client of the demo',
        'realms[0].clients[0].secrets[0] is a secret of the demo',
        'realms[0].clients[0].callback.secrets[0] is sealed with the key of the demo',
        'realms[0].clients[0].callback.url must be https',
      ]) {
        expect(start.output().includes(`REGISTRY_FILE: ${problem}`)).toBe(withRegistry.includes(name));
      }
      expect(start.output()).not.toMatch(/launch\.example|pms-demo/);
    },
  );

  it.each(services)(
    '%s does not start even as a demo without the addresses of its servers, and reports the missing settings',
    async (name) => {
      const start = run(process.execPath, [mainOf(name)], { NODE_ENV: 'demo' });
      expect(await start.exited).toBe(1);
      const missing = [...start.output().matchAll(/(REDIS_URL|AMQP_URL|DATABASE_URL) is not set/g)];
      const parts = secretFilesOf(name).filter((file) => file.endsWith('-url'));
      expect(new Set(missing.map(([, setting]) => setting))).toEqual(new Set(parts.map(settingOf)));
    },
  );

  it.each(services)(
    '%s does not start with secrets of the demo, and reports the settings that contain them',
    async (name) => {
      const own = secretFilesOf(name).map((file) => `services/${name}/${file}`);
      const keys = readdirSync(demoSecrets).filter((file) => /^(sealing-keys|patient|audit)-/.test(file));
      const files = [...own, ...keys].map((file) => [`${settingOf(file)}_FILE`, join(demoSecrets, file)]);
      const environment = { ...demoInProduction, ...Object.fromEntries(files) };
      for (const part of ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']) delete environment[part];
      const start = run(process.execPath, [mainOf(name)], environment);
      expect(await start.exited).toBe(1);
      const refused = [
        ...start.output().matchAll(/(\w+) (?:is|contains) [a-z ]+ of the demo, which is publicly known/g),
      ];
      expect(new Set(refused.map(([, setting]) => setting))).toEqual(
        new Set([
          ...own.map(settingOf),
          ...(sealingSettings[name] ?? []).map((purpose) => `SEALING_KEYS_${purpose}`),
          ...(otherKeys[name] ?? []),
        ]),
      );
      expect(start.output()).not.toMatch(/demo-(redis|amqp|database)/);
    },
  );

  it.each(services)('%s does not start with an unknown NODE_ENV', async (name) => {
    const environment = { ...demoInProduction, NODE_ENV: 'prod', SEALING_KEYS: sealingKeys };
    const start = run(process.execPath, [mainOf(name)], environment);
    expect(await start.exited).toBe(1);
    expect(start.output()).toContain('NODE_ENV must be one of development, demo, test, production');
  });
});

describe('the simulators', () => {
  it('do not start in production', async () => {
    const start = run(process.execPath, ['sandbox/simulators/src/main.ts'], demoInProduction);
    expect(await start.exited).toBe(1);
    expect(start.output()).toContain('NODE_ENV is production, and the simulators are for demos');
  });
});

describe('the developer portal', () => {
  it('does not start in production unless the operator switches it on', async () => {
    const registry = join(folder, 'empty.json');
    await writeFile(registry, JSON.stringify({ realms: [] }));
    const valid = {
      ...demoInProduction,
      PUBLIC_URL: 'https://launch.example',
      REGISTRY_FILE: registry,
      SEALING_KEYS_CALLBACK: sealingKeys,
      STATEMENT_SIGNING_KEY: JSON.stringify(ed25519KeyOf(randomBytes(32))),
      PORT: '0',
      ADMIN_PORT: '0',
    };
    const portal = ['sandbox/portal/src/main.ts'];
    const refused = run(process.execPath, portal, valid);
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain('DEVELOPER_PORTAL must be `on` to start the portal in production');
    const started = run(process.execPath, portal, { ...valid, DEVELOPER_PORTAL: 'on' });
    await started.said(/^ready developer-portal /m);
    started.child.kill('SIGTERM');
    expect(await started.exited).toBe(0);
  });
});

describe('the platform in one process', () => {
  const start = (environment: NodeJS.ProcessEnv) =>
    run(process.execPath, ['tools/platform/src/main.ts'], { ADMIN_PORT: '0', ...environment });

  it('does not start as a demo if NODE_ENV is unknown', async () => {
    const platform = start({ PORT: '0', PUBLIC_URL: 'https://x.example', NODE_ENV: 'Production' });
    expect(await platform.exited).toBe(1);
    expect(platform.output()).toContain('NODE_ENV must be one of development, demo, test, production');
  });

  /** Starts the platform in production with one client, `pms`, and some settings replaced. */
  async function launchInProduction(replaced: NodeJS.ProcessEnv = {}) {
    const path = join(folder, 'registry.json');
    const secret = createClientSecret();
    const secrets = [{ sha256: hashClientSecret(secret) }];
    const clients = [{ clientId: 'pms', name: 'PMS', secrets, scopes: [] }];
    await writeFile(path, JSON.stringify({ realms: [{ realm: 'demo', clients }] }));
    const port = String(await findFreePort());
    const keys = { REGISTRY_FILE: path, SEALING_KEYS: sealingKeys };
    const platform = start({ ...realParts(), PORT: port, ...keys, ...replaced });
    return { platform, url: `http://127.0.0.1:${port}`, path, secret };
  }

  async function startInProduction() {
    const started = await launchInProduction();
    await started.platform.said(/^ready /m);
    return started;
  }

  it('does not start in production with a Redis user that may read every key, and names REDIS_SERVICE_USERS', async () => {
    const { platform } = await launchInProduction({ REDIS_SERVICE_USERS: 'required' });
    expect(await platform.exited).toBe(1);
    expect(platform.output()).toContain(
      'Give each service its own user, unless REDIS_SERVICE_USERS is optional',
    );
  });

  it('serves no page, form or asset of the demo in production', async () => {
    const { platform, url } = await startInProduction();
    const paths = simulatedPaths.map((path) => path.replace(/:\w+/g, randomUUID()));
    expect(paths).toEqual(expect.arrayContaining(['/', '/demo/pms/launches', '/demo/assets']));
    for (const path of [...paths, '/demo/assets/simulators.css', '/developers/']) {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(url + path, { method });
        expect([method, path, response.status, await response.text()]).toEqual([method, path, 404, '']);
      }
    }
    expect(platform.output()).not.toMatch(/-demo|Start here/);
    platform.child.kill('SIGTERM');
    expect(await platform.exited).toBe(0);
  });

  it('keeps its registry in production if the file is replaced by the registry of the demo', async () => {
    const { platform, url, path, secret } = await startInProduction();
    await writeFile(path, await readFile(demoRegistry));
    await platform.said(/the changed registry is invalid/);
    const statusOf = async (clientId: string, clientSecret: string) => {
      const response = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: clientSecret,
          scope: 'api://clinical-launch/.default',
        }),
      });
      return response.status;
    };
    for (const { clientId, secret: demoSecret } of demoClients(registryOfDemo))
      expect([clientId, await statusOf(clientId, demoSecret)]).toEqual([clientId, 401]);
    expect(await statusOf('pms', secret)).toBe(200);
    platform.child.kill('SIGTERM');
    expect(await platform.exited).toBe(0);
  });
});

function pathsOf({ endpoints, below = [] }: ReturnType<typeof simulators>): string[] {
  return [...endpoints, ...below].map(({ path }) => path);
}

/** Returns settings for production that use the servers of the tests, in a namespace for this run. */
function realParts() {
  const own = `test-${randomUUID()}`;
  return {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://launch.example',
    REDIS_URL: process.env.TEST_REDIS_URL,
    REDIS_PREFIX: own,
    // The platform in one process uses one Redis user for all services.
    REDIS_SERVICE_USERS: 'optional',
    AMQP_URL: process.env.TEST_AMQP_URL,
    AMQP_NAMESPACE: own,
    DATABASE_URL: database.url,
  };
}
