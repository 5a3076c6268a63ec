import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { auditKeyOf } from '@clinical-launch/audit-trail/domain/audit-keys';
import { eventConsumers, listenersOf, type ServiceName } from '@clinical-launch/contracts/events/cloud-event';
import { deriveEventKey } from '@clinical-launch/crypto/event-macs';
import { sealingPurposes } from '@clinical-launch/crypto/sealing-purposes';
import { brokerAccess, databaseAccess, serviceNames } from './service-access.ts';
import { UsageError } from './usage-error.ts';

/** 256 bits in Base64URL, which need no escaping in an address. */
const draw = () => randomBytes(32).toString('base64url');

/**
 * Creates the secrets of a deployment by the compose file: sealing keys by purpose, keys of events, and for
 * each service its own user and password of each part that it uses. Leaves existing files unchanged. The
 * directories are closed to other users; the files are readable, because the users in the containers differ.
 * @throws UsageError when the directory has only some of the keys of events, which belong together
 * @returns the files that were written
 */
export function makeSecrets(directory: string): readonly string[] {
  const written: string[] = [];
  const write = (path: string, make: () => string) => {
    const file = join(directory, path);
    if (existsSync(file)) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o711 });
    writeFileSync(file, `${make()}\n`, { mode: 0o444 });
    written.push(file);
  };
  const keyId = new Date().toISOString().slice(0, 7).replace('-', '');
  for (const purpose of sealingPurposes) write(`sealing-keys-${purpose}`, () => `${keyId}:${draw()}`);
  // Never replaced: with another key, nobody's earlier events are found.
  write('patient-pseudonym-key', draw);
  write('audit-signing-key', () => JSON.stringify(auditKeyOf(randomBytes(32))));
  for (const service of serviceNames) {
    const place = `services/${service}`;
    write(`${place}/redis-url`, () => `redis://${service}:${draw()}@redis:6379`);
    if (brokerAccess[service]) write(`${place}/amqp-url`, () => `amqp://${service}:${draw()}@rabbitmq:5672`);
    if (databaseAccess[service]) {
      const { schema } = databaseAccess[service];
      write(`${place}/database-url`, () => `postgres://${schema}:${draw()}@postgres:5432/clinical_launch`);
    }
  }
  write('services/operator/amqp-url', () => `amqp://operator:${draw()}@rabbitmq:5672`);
  write('database-url', () => `postgres://clinical_launch_owner:${draw()}@postgres:5432/clinical_launch`);
  write('postgres-password', draw);
  write('grafana-password', draw);
  // Whom Alertmanager notifies: the operator writes the key and the address here.
  write('alertmanager-pages', () => 'none');
  write('alertmanager-tickets', () => 'http://localhost/none');
  const eventKeys = eventKeyFiles(keyId);
  const kept = eventKeys.filter(([path]) => existsSync(join(directory, path)));
  if (kept.length > 0 && kept.length < eventKeys.length) {
    throw new UsageError(
      `Some keys of events are missing in ${directory}. Remove the others to create all of them`,
    );
  }
  for (const [path, text] of eventKeys) write(path, () => text);
  return written;
}

/**
 * Draws a key for each listener; the signing key of a service for a listener is derived from the listener's
 * key.
 */
function eventKeyFiles(keyId: string): (readonly [string, string])[] {
  const listeners = new Set(Object.values(eventConsumers).map(({ service }) => service));
  const keys = new Map<ServiceName, Buffer>([...listeners].map((service) => [service, randomBytes(32)]));
  const signing = serviceNames.map((source) => {
    const entries = listenersOf(source).flatMap((listener) => {
      const key = keys.get(listener);
      return key === undefined ? [] : [`${listener}:${deriveEventKey(key, source).toString('base64url')}`];
    });
    return [`services/${source}/event-signing-keys`, entries.join(',')] as const;
  });
  const verification = [...keys].map(
    ([service, key]) =>
      [`services/${service}/event-verification-keys`, `${keyId}:${key.toString('base64url')}`] as const,
  );
  return [...signing, ...verification];
}
