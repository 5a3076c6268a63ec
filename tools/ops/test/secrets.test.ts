import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createPurposeSealer, sealingPurposes } from '@clinical-launch/crypto/sealing-purposes';
import { readEventKeys } from '@clinical-launch/process/event-keys';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { anEvent } from '@clinical-launch/testing/ticket-fixtures';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { secretsOfProduction } from '../../../tests/system/k8s/production-secrets.ts';
import { purposesOf } from '../../../tests/system/purposes-of.ts';
import { root } from '../../../tests/system/run-command.ts';
import { serviceNames } from '../src/access.ts';
import { runOps, runOpsHere } from './run-ops.ts';

const directory = join(mkdtempSync(join(tmpdir(), 'clinical-launch-secrets-')), 'secrets');
let first: Awaited<ReturnType<typeof runOps>>;
beforeAll(async () => {
  first = await runOps(['secrets', directory], {});
});
afterAll(() => rmSync(join(directory, '..'), { recursive: true }));

const read = (path: string) => readFileSync(join(directory, path), 'utf8').trim();
const listed = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted((a, b) => a.localeCompare(b));

describe('./clinical-launch secrets', () => {
  it('creates every file that docker-compose.yml mounts, and prints no secret', () => {
    expect(first).toMatchObject({ code: 0, errors: '' });
    const compose = readFileSync(`${root}docker-compose.yml`, 'utf8');
    const mounted = [...compose.matchAll(/SECRETS_DIR:-\.\/deploy\/docker\/demo-secrets\}\/([\w/-]+)/g)];
    expect(mounted.length).toBeGreaterThan(30);
    const missing = mounted.map(([, path = '']) => path).filter((path) => !existsSync(join(directory, path)));
    expect(missing).toEqual([]);
    expect(first.output).not.toContain(read('postgres-password'));
    expect(statSync(directory).mode & 0o066).toBe(0);
  });

  it('creates unique passwords of 256 bits for each user of each server', () => {
    const addresses = listed()
      .filter((path) => path.endsWith('-url'))
      .map(read);
    const passwords = addresses.map((address) => new URL(address).password);
    expect(new Set(passwords).size).toBe(addresses.length);
    for (const password of passwords) expect(password).toMatch(/^[\w-]{43}$/);
  });

  it.each([
    [
      ['--redis-host', 'a:6379,b:6379'],
      'redis-url',
      /^rediss:\/\/ordering:([\w-]{43})@a:6379,rediss:\/\/ordering:\1@b:6379$/,
    ],
    [
      ['--redis-host', 'a:26379?sentinel=primary,b:26379'],
      'redis-url',
      /^rediss:\/\/ordering:[\w-]{43}@a:26379\?sentinel=primary,rediss:\/\/b:26379$/,
    ],
    [['--amqp-host', 'mq.internal:5671'], 'amqp-url', /^amqps:\/\/ordering:[\w-]{43}@mq\.internal:5671$/],
    [
      ['--postgres-host', 'db.internal:5432'],
      'database-url',
      /^postgres:\/\/ordering:[\w-]{43}@db\.internal:5432\/clinical_launch\?sslmode=verify-full$/,
    ],
  ])('writes the addresses of the servers of %j', async (options, name, address) => {
    const folder = join(directory, '..', randomUUID());
    expect(await runOpsHere(['secrets', folder, ...options], {})).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, `services/ordering/${name}`), 'utf8').trim()).toMatch(address);
  });

  it.each(['rediss://a:6379', 'a', 'a:6379,', 'user:secret@a:6379'])(
    'exits with 2 for the host %s, and writes nothing',
    async (host) => {
      const folder = join(directory, '..', 'none');
      expect(await runOpsHere(['secrets', folder, '--redis-host', host], {})).toMatchObject({ code: 2 });
      expect(existsSync(folder)).toBe(false);
    },
  );

  it('keeps existing files when it runs again, and adds missing files', async () => {
    const before = listed();
    const kept = read('services/ordering/redis-url');
    rmSync(join(directory, 'grafana-password'));
    const again = await runOpsHere(['secrets', directory], {});
    expect(again.output).toContain('1 files written');
    expect(listed()).toEqual(before);
    expect(read('services/ordering/redis-url')).toBe(kept);
  });

  it('adds the keys that sign the events of the operator, derived from existing keys', async () => {
    const path = 'services/operator/event-signing-keys';
    const before = read(path);
    rmSync(join(directory, path));
    expect((await runOpsHere(['secrets', directory], {})).code).toBe(0);
    expect(read(path)).toBe(before);
    const environment = {
      NODE_ENV: 'production',
      EVENT_VERIFICATION_KEYS: read('services/identity-provider/event-verification-keys'),
      EVENT_SIGNING_KEYS: read('services/identity-provider/event-signing-keys'),
    };
    const verify = readEventKeys(environment, 'identity-provider').verifierOf('desktop-logout');
    const signing = { NODE_ENV: 'production', EVENT_SIGNING_KEYS: before };
    const { writeEvent } = readEventKeys(signing, 'operator');
    const sent = (type: 'desktop.chain.revoked.v1' | 'desktop.code.issued.v1') =>
      JSON.parse(writeEvent({ ...anEvent(), source: '/operator', type } as CloudEvent)) as CloudEvent;
    expect(verify?.(sent('desktop.chain.revoked.v1'))).toMatchObject({ source: '/operator' });
    expect(() => verify?.(sent('desktop.code.issued.v1'))).toThrow('may not publish');
  });

  it('refuses to create only some of the event keys', async () => {
    const path = join(directory, 'services/ordering/event-signing-keys');
    const keys = readFileSync(path);
    rmSync(path);
    const refused = await runOpsHere(['secrets', directory], {});
    expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining('Remove the others')]);
    writeFileSync(path, keys);
    chmodSync(path, 0o444);
  });
});

describe('./clinical-launch secrets --kubernetes', () => {
  type Kustomization = { secretGenerator: { name: string; files: string[] }[] };
  type External = { metadata: { name: string }; spec: { data: { secretKey: string }[] } };
  const parsed = <Object>(file: string) =>
    parseAllDocuments(read(file)).map((document) => document.toJS() as Object);

  beforeAll(async () => {
    // The operator stores the client secret that the staff's issuer issued.
    writeFileSync(join(directory, 'services/audit-trail/audit-oidc-client-secret'), 'secret');
    await runOpsHere(['secrets', '--kubernetes', directory], {});
  });

  it('writes the Secrets and keys that the production overlay lists, from existing files', () => {
    const [{ secretGenerator } = { secretGenerator: [] }] = parsed<Kustomization>('kustomization.yaml');
    const own = new Set([
      'developer-portal',
      'alertmanager',
      'grafana',
      'registry',
      'private-ca',
      'launch-tls',
    ]);
    const listed = secretsOfProduction().map(
      ([object, keys]) => [object.replace('Secret ', ''), new Set(keys)] as const,
    );
    const listedKeys = new Map(listed.filter(([name]) => !own.has(name)));
    const entries = secretGenerator.map(
      ({ name, files }) => [name, files.map((file) => file.split('='))] as const,
    );
    expect(new Map(entries.map(([name, files]) => [name, new Set(files.map(([key]) => key))]))).toEqual(
      listedKeys,
    );
    const paths = entries.flatMap(([, files]) => files.map(([, path = '']) => path));
    expect(paths.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
  });

  it('writes an ExternalSecret with the same keys for each Secret, and no value', () => {
    const [{ secretGenerator } = { secretGenerator: [] }] = parsed<Kustomization>('kustomization.yaml');
    expect(
      parsed<External>('external-secrets.yaml').map(({ metadata, spec }) => [
        metadata.name,
        spec.data.map(({ secretKey }) => secretKey),
      ]),
    ).toEqual(secretGenerator.map(({ name, files }) => [name, files.map((file) => file.split('=')[0])]));
    const texts = read('kustomization.yaml') + read('external-secrets.yaml');
    expect(texts).not.toContain(new URL(read('services/ordering/redis-url')).password);
  });

  it('adds a key for a file that the operator has stored, and keeps a changed external-secrets.yaml', async () => {
    writeFileSync(join(directory, 'services/ordering/another-key'), 'secret');
    rmSync(join(directory, 'kustomization.yaml'));
    writeFileSync(join(directory, 'external-secrets.yaml'), 'changed');
    await runOpsHere(['secrets', '--kubernetes', directory], {});
    expect(read('kustomization.yaml')).toContain('another-key=services/ordering/another-key');
    expect(read('external-secrets.yaml')).toBe('changed');
  });
});

describe('the sealing keys of one service', () => {
  const environment = () => ({
    NODE_ENV: 'production',
    ...Object.fromEntries(
      sealingPurposes.map((purpose) => [
        `SEALING_KEYS_${purpose.toUpperCase().replaceAll('-', '_')}`,
        read(`sealing-keys-${purpose}`),
      ]),
    ),
  });
  const place = ['a place'];

  it.each(serviceNames)('neither open nor create sealed values of other services: %s', (service) => {
    const everyone = openSealers(environment(), sealingPurposes);
    const own = purposesOf(service);
    const ownKeys = own.map((purpose) => {
      const [id = '', key = ''] = read(`sealing-keys-${purpose}`).split(':');
      return { id, key: Buffer.from(key, 'base64url') };
    });
    for (const purpose of sealingPurposes.filter((one) => !own.includes(one))) {
      const sealed = everyone[purpose].seal('anything', 'a secret', place);
      for (const key of ownKeys) {
        const forger = createPurposeSealer(purpose, [key]);
        expect(() => forger.open('anything', sealed, place)).toThrow(/.+/);
        expect(() =>
          everyone[purpose].open('anything', forger.seal('anything', 'forged', place), place),
        ).toThrow(/.+/);
      }
    }
  });
});
