import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@clinical-launch/testing/test-database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

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
