import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import { findFreePort, type PrivateServer } from '@clinical-launch/testing/servers/private-server';
import { startRabbitMq } from '@clinical-launch/testing/servers/rabbitmq';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeCertificate } from './edge/running-edge.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Returns the variables for external servers, in a namespace for this run. */
function realParts() {
  const own = `test-${randomUUID()}`;
  return {
    REDIS_URL: process.env.TEST_REDIS_URL,
    REDIS_PREFIX: own,
    AMQP_URL: process.env.TEST_AMQP_URL,
    AMQP_NAMESPACE: own,
    DATABASE_URL: database.url,
  };
}

function play(environment: Record<string, string | undefined>): Promise<string> {
  // The test runner's own variables must not reach the command.
  const { NODE_OPTIONS: _options, JEST_WORKER_ID: _worker, NODE_ENV: _mode, ...inherited } = process.env;
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['tools/platform/src/play.ts'],
      { cwd: root, env: { ...inherited, ...environment } },
      (error, output, complaints) =>
        error === null ? resolve(output) : reject(new Error(output + complaints)),
    );
  });
}

describe('a whole launch', () => {
  it('works with Redis, RabbitMQ and PostgreSQL, also after a restart of the platform', async () => {
    const parts = realParts();
    expect(await play(parts)).toContain('the audit trail lists the events of the launch');
    expect(await play(parts)).toContain('the audit trail lists the events of the launch');
  });

  it.each(['REDIS_URL', 'AMQP_URL', 'DATABASE_URL'])(
    'works with an embedded replacement if %s is not set',
    async (name) => {
      expect(await play({ ...realParts(), [name]: '' })).toContain(
        'the audit trail lists the events of the launch',
      );
    },
  );
});

describe('a whole launch over TLS', () => {
  const certificate = makeCertificate();
  const [certificateFile, keyFile] = [certificate.caPath, certificate.keyPath];
  const servers: PrivateServer[] = [];
  let environment: Record<string, string>;
  beforeAll(async () => {
    // PostgreSQL runs as another user, and accepts only a private key that this user owns.
    chmodSync(dirname(keyFile), 0o755);
    if (process.getuid?.() === 0) execFileSync('chown', ['postgres', keyFile]);
    const [redisPort, amqpPort] = [await findFreePort(), await findFreePort()];
    const postgres = await startPostgres([
      'ssl=on',
      `ssl_cert_file=${certificateFile}`,
      `ssl_key_file=${keyFile}`,
    ]);
    servers.push(
      postgres,
      await startRedis(
        [
          `--tls-port ${redisPort} --tls-auth-clients no`,
          `--tls-cert-file ${certificateFile} --tls-key-file ${keyFile} --tls-ca-cert-file ${certificateFile}`,
        ].flatMap((line) => line.split(' ')),
      ),
      await startRabbitMq({
        configuration: `listeners.ssl.1 = 127.0.0.1:${amqpPort}
ssl_options.certfile = ${certificateFile}
ssl_options.keyfile = ${keyFile}
ssl_options.cacertfile = ${certificateFile}
`,
      }),
    );
    environment = {
      REDIS_URL: `rediss://127.0.0.1:${redisPort}`,
      AMQP_URL: `amqps://guest:guest@127.0.0.1:${amqpPort}`,
      DATABASE_URL: `${postgres.url}?sslmode=verify-full`,
    };
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    certificate.remove();
  });

  it('works with servers whose certificate is in NODE_EXTRA_CA_CERTS', async () => {
    expect(await play({ ...environment, NODE_EXTRA_CA_CERTS: certificateFile })).toContain(
      'the audit trail lists the events of the launch',
    );
  });
});
