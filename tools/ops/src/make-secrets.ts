import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type EventSource,
  eventConsumers,
  listenersOf,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import { ed25519KeyOf } from '@clinical-launch/crypto/ed25519-keys';
import { deriveEventKey } from '@clinical-launch/crypto/event-macs';
import { sealingPurposes } from '@clinical-launch/crypto/sealing-purposes';
import { UsageError } from '@clinical-launch/process/command-line';
import { replaceFile } from '@clinical-launch/process/operator-files';
import { brokerAccess, databaseAccess, serviceNames } from './access.ts';

/** Returns 256 random bits in Base64URL, which needs no escaping in addresses. */
const draw = () => randomBytes(32).toString('base64url');

/** The hosts with ports of the servers. A server without a host is that of docker-compose.yml. */
export type ServerHosts = Partial<Readonly<Record<'redis' | 'amqp' | 'postgres', string>>>;

/**
 * Returns the functions that write a user's address of each server. A server with a host has TLS. The hosts of
 * Redis are those of a cluster, or of Sentinels if the first ends with `?sentinel=`. Sentinels have no password.
 */
function addressesOn({ redis, amqp, postgres }: ServerHosts) {
  const [first = '', ...others] = redis?.split(',') ?? [];
  const isSentinel = first.includes('?sentinel=');
  return {
    redis: (user: string) =>
      redis === undefined
        ? `redis://${user}@redis:6379`
        : [`${user}@${first}`, ...others.map((one) => (isSentinel ? one : `${user}@${one}`))]
            .map((one) => `rediss://${one}`)
            .join(','),
    amqp: (user: string) => (amqp === undefined ? `amqp://${user}@rabbitmq:5672` : `amqps://${user}@${amqp}`),
    postgres: (user: string) =>
      postgres === undefined
        ? `postgres://${user}@postgres:5432/clinical_launch`
        : `postgres://${user}@${postgres}/clinical_launch?sslmode=verify-full`,
  };
}

/**
 * Creates the secrets for a deployment with docker-compose.yml, or with the given servers: sealing keys by
 * purpose, event keys, and users with passwords. Each service has a user on each server that it uses. Keeps
 * existing files. Other users of the machine cannot enter the directory. Containers, which run as different
 * users, can read a file that is mounted.
 * @throws UsageError if only some of the event keys exist, because they must match
 * @returns the written files
 */
export function makeSecrets(directory: string, hosts: ServerHosts = {}): readonly string[] {
  const on = addressesOn(hosts);
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o700);
  const written: string[] = [];
  const write = (path: string, make: () => string) => {
    const file = join(directory, path);
    if (existsSync(file)) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o711 });
    replaceFile(file, `${make()}\n`, 0o444);
    written.push(file);
  };
  const keyId = new Date().toISOString().slice(0, 7).replace('-', '');
  for (const purpose of sealingPurposes) write(`sealing-keys-${purpose}`, () => `${keyId}:${draw()}`);
  // This key is never replaced, because earlier events of patients could not be found with another key.
  write('patient-pseudonym-key', draw);
  write('audit-signing-key', () => JSON.stringify(ed25519KeyOf(randomBytes(32))));
  write('statement-signing-key', () => JSON.stringify(ed25519KeyOf(randomBytes(32))));
  for (const service of serviceNames) {
    const place = `services/${service}`;
    write(`${place}/redis-url`, () => on.redis(`${service}:${draw()}`));
    if (brokerAccess[service]) write(`${place}/amqp-url`, () => on.amqp(`${service}:${draw()}`));
    if (databaseAccess[service]) {
      const { schema } = databaseAccess[service];
      write(`${place}/database-url`, () => on.postgres(`${schema}:${draw()}`));
    }
  }
  write('services/operator/redis-url', () => on.redis(`operator:${draw()}`));
  write('services/operator/amqp-url', () => on.amqp(`operator:${draw()}`));
  write('database-url', () => on.postgres(`clinical_launch_owner:${draw()}`));
  write('postgres-password', draw);
  write('grafana-password', draw);
  // Placeholders for Alertmanager's receivers. The operator replaces them.
  write('alertmanager-pages', () => 'none');
  write('alertmanager-tickets', () => 'http://localhost/none');
  const eventKeys = eventKeyFiles(keyId);
  const kept = eventKeys.filter(([path]) => existsSync(join(directory, path)));
  if (kept.length > 0 && kept.length < eventKeys.length) {
    throw new UsageError(
      `Some event keys are missing in ${directory}. Remove the others to create all of them`,
    );
  }
  for (const [path, text] of eventKeys) write(path, () => text);
  // Derived from the stored keys, so that an existing deployment need not replace its event keys.
  write('services/operator/event-signing-keys', () =>
    signingKeysOf(
      'operator',
      new Map(listenersOf('operator').map((listener) => [listener, storedKeyOf(directory, listener)])),
    ),
  );
  return written;
}

/** Reads the key of a listener. During a rotation, reads the first of its keys. */
function storedKeyOf(directory: string, listener: ServiceName): Buffer {
  const stored = readFileSync(join(directory, `services/${listener}/event-verification-keys`), 'utf8');
  const [, key = ''] = stored.trim().split(',')[0]?.split(':') ?? [];
  return Buffer.from(key, 'base64url');
}

/** Returns the keys with which a source signs its events, one for each service that consumes them. */
function signingKeysOf(source: EventSource, keys: ReadonlyMap<ServiceName, Uint8Array>): string {
  const entries = listenersOf(source).flatMap((listener) => {
    const key = keys.get(listener);
    return key === undefined ? [] : [`${listener}:${deriveEventKey(key, source).toString('base64url')}`];
  });
  return entries.join(',');
}

/**
 * Creates a key for each listener. The signing key of a service for a listener is derived from the listener's
 * key.
 */
function eventKeyFiles(keyId: string): (readonly [string, string])[] {
  const listeners = new Set(Object.values(eventConsumers).map(({ service }) => service));
  const keys = new Map<ServiceName, Buffer>([...listeners].map((service) => [service, randomBytes(32)]));
  const signing = serviceNames.map(
    (source) => [`services/${source}/event-signing-keys`, signingKeysOf(source, keys)] as const,
  );
  const verification = [...keys].map(
    ([service, key]) =>
      [`services/${service}/event-verification-keys`, `${keyId}:${key.toString('base64url')}`] as const,
  );
  return [...signing, ...verification];
}
