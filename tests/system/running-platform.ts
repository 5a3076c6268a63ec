import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPlatform } from '@clinical-launch/platform/platform';
import { createPmsClient } from '@clinical-launch/pms-client';
import { type Clock, systemClock } from '@clinical-launch/runtime/clock';
import type { Environment } from '@clinical-launch/runtime/environment';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';

type PlatformForTest = {
  readonly clock?: Clock;
  readonly environment?: Environment;
  readonly logLevel?: string;
  /** Answers `/metrics` at the admin address. */
  readonly answerMetrics?: RequestListener;
  /** Changes the text of the demo's registry. */
  readonly changeRegistry?: (text: string) => string;
};

const demoRegistry = new URL('../../sandbox/simulators/registry.json', import.meta.url);

/** Creates the client of the demo's practice system for a platform. */
export const createDemoPms = (baseUrl: string) =>
  createPmsClient({
    baseUrl,
    tokenUrl: `${baseUrl}/idp/demo/oauth2/v2.0/token`,
    clientId: 'pms-demo',
    clientSecret: 'pms-demo-secret',
    scope: 'api://clinical-launch/.default',
  });

/** Starts the whole platform on a free port with a separate database, and records its log. */
export async function startPlatformForTest({
  clock = systemClock,
  environment = {},
  logLevel = 'info',
  answerMetrics,
  changeRegistry,
}: PlatformForTest = {}) {
  const { logger, lines } = createRecordedLogger(logLevel);
  const database = await createTestDatabase();
  const registry = changeRegistry && (await writeRegistry(changeRegistry));
  const own = {
    PORT: '0',
    DATABASE_URL: database.url,
    REGISTRY_FILE: registry?.file ?? fileURLToPath(demoRegistry),
  };
  const all = { ...own, ...environment };
  const platform = await startPlatform({
    environment: all,
    clock,
    logger,
    ...(answerMetrics && { answerMetrics }),
  });
  const url = platform.publicUrl;

  return {
    ...platform,
    async stop() {
      await platform.stop();
      await database.drop();
      await registry?.remove();
    },
    url,
    lines,
    /** Requests an access token for a client of the demo's registry. */
    async tokenOf(clientId: string): Promise<string> {
      const response = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: `${clientId}-secret`,
          scope: 'api://clinical-launch/.default',
        }),
      });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    /** Returns the events with a correlation id once all `wanted` types are in the audit trail. */
    async storyOf(
      correlationId: string,
      wanted: readonly string[],
      token: string,
    ): Promise<{ type: string; data: object }[]> {
      let events: { type: string; data: object }[] = [];
      const isReported = async () => {
        const response = await fetch(`${url}/audit/events?correlationId=${correlationId}`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        ({ events } = (await response.json()) as { events: { type: string; data: object }[] });
        return wanted.every((type) => events.some((event) => event.type === type));
      };
      await until(
        isReported,
        () =>
          `the audit trail has ${wanted.join(', ')}, not only ${events.map(({ type }) => type).join(', ')}`,
      );
      return events;
    },
  };
}

/** Writes a changed copy of the demo's registry. */
async function writeRegistry(change: (text: string) => string) {
  const folder = await mkdtemp(join(tmpdir(), 'clinical-launch-platform-'));
  const file = join(folder, 'registry.json');
  await writeFile(file, change(await readFile(demoRegistry, 'utf8')));
  return { file, remove: () => rm(folder, { recursive: true }) };
}
