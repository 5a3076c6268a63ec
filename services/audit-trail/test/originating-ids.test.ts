import { randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import type { HeldClaim } from '@clinical-launch/tickets/claims';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readAuditTrailConfig } from '../src/config.ts';
import { auditTrail } from '../src/service.ts';

const clock = new TestClock();
const refusesAll = { verify: () => Promise.reject(new Error('no token is needed here')) };
let storage: Awaited<ReturnType<typeof openTestStorage>>;
beforeAll(async () => {
  storage = await openTestStorage();
});
afterAll(() => storage.close());

/** Starts an audit trail on the same database with an empty ticket store. Collects the restored claims. */
async function startAuditTrail() {
  const dependencies = createTestDependencies(clock);
  const restored: HeldClaim[] = [];
  const claims = {
    areComplete: async () => false,
    hold: dependencies.claims.hold.bind(dependencies.claims),
    async rebuild(recorded: AsyncIterable<readonly HeldClaim[]>) {
      for await (const page of recorded) restored.push(...page);
      return true;
    },
  };
  const service = await auditTrail(readAuditTrailConfig({}), {
    ...dependencies,
    claims,
    storage,
    tokens: refusesAll,
    events: dependencies.bus,
  });
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
  return {
    restored,
    async publish(...events: CloudEvent[]) {
      await dependencies.bus.publish(events);
      await dependencies.bus.idle();
    },
    stop: () => server.stop(),
  };
}

const issued = (name: string, { action = 'OrderTest', ttlSeconds = 3600 } = {}) =>
  createEvent(
    'launch.url.issued.v1',
    {
      source: '/launch-api',
      correlationId: randomUUID(),
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      now: new Date(clock.now()),
    },
    {
      issuer: 'https://issuer.example',
      clientId: 'pms',
      action,
      ttlSeconds: 10,
      claim: { name, ttlSeconds },
    },
  );

async function restoredAfter(...events: CloudEvent[]): Promise<readonly HeldClaim[]> {
  const recording = await startAuditTrail();
  await recording.publish(...events);
  await recording.stop();
  const restarted = await startAuditTrail();
  await restarted.stop();
  return restarted.restored;
}

describe("claims of callers' identifiers", () => {
  it('are restored from the database after the ticket store has lost them', async () => {
    const name = randomUUID();
    const event = issued(name);
    expect(await restoredAfter(event, event)).toContainEqual({
      name,
      holder: 'OrderTest',
      expiresAt: clock.now() + 3600_000,
    });
  });

  it('belong to the earlier of two launches with the same identifier, whatever the order of their events', async () => {
    const name = randomUUID();
    const first = issued(name, { action: 'OrderTest' });
    clock.advance({ seconds: 1 });
    const second = issued(name, { action: 'UpdateTest' });
    expect(await restoredAfter(second, first)).toContainEqual(
      expect.objectContaining({ name, holder: 'OrderTest' }),
    );
  });

  it('are recorded for all launches of one batch', async () => {
    const names = Array.from({ length: 50 }, () => randomUUID());
    const restored = await restoredAfter(...names.map((name) => issued(name)), issued(names[0] ?? ''));
    expect(restored.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  });

  it('belong to the later launch if the earlier claim had expired, even within one batch', async () => {
    const name = randomUUID();
    const first = issued(name, { action: 'OrderTest', ttlSeconds: 60 });
    clock.advance({ seconds: 61 });
    const second = issued(name, { action: 'UpdateTest' });
    expect(await restoredAfter(first, second)).toContainEqual(
      expect.objectContaining({ name, holder: 'UpdateTest' }),
    );
  });

  it('are not restored after they have expired', async () => {
    const name = randomUUID();
    const event = issued(name, { ttlSeconds: 60 });
    clock.advance({ seconds: 61 });
    expect((await restoredAfter(event)).map((claim) => claim.name)).not.toContain(name);
  });
});
