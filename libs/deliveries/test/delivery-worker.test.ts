import { randomUUID } from 'node:crypto';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createLogger } from '@clinical-launch/runtime/logger';
import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import type { LeasedDelivery } from '../src/delivery-table.ts';
import { startDeliveryWorker } from '../src/delivery-worker.ts';

const anHourMs = 3_600_000;

type Due = LeasedDelivery & { readonly at: number };

const dueAt = (at: number, receiver = 'one'): Due => ({
  id: '1',
  lease: 'lease',
  messageId: 'message',
  receiver,
  traceparent: '',
  attempts: 1,
  giveUpAt: Number.POSITIVE_INFINITY,
  at,
});

const origin = {
  source: '/test',
  correlationId: randomUUID(),
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
  now: new Date(0),
};

/** Starts a worker whose deliveries are in memory, and which polls only once an hour. */
function startWorker(pending: Due[], { slots = 8 } = {}) {
  const clock = { now: () => performance.now() };
  const delivered: Due[] = [];
  let leases = 0;
  const free = (busy: readonly string[]) => pending.filter(({ receiver }) => !busy.includes(receiver));
  const worker = startDeliveryWorker<Due>({
    slots,
    pollMs: anHourMs,
    queue: {
      async lease(_now, busy) {
        leases += 1;
        const due = free(busy).find(({ at }) => at <= clock.now());
        if (due !== undefined) pending.splice(pending.indexOf(due), 1);
        return due;
      },
      async nextDueAt(_now, busy) {
        const times = free(busy).map(({ at }) => at);
        return times.length === 0 ? undefined : Math.min(...times);
      },
      release: async () => undefined,
    },
    async deliver(due) {
      delivered.push(due);
      return { outcome: 'delivered', status: 200 };
    },
    settle: async () => undefined,
    eventOf: () => createEvent('launch.token.redeemed.v1', origin, {}),
    factsOf: () => ({}),
    what: 'letter',
    clock,
    logger: createLogger({ level: 'silent' }),
  });
  return { worker, pending, delivered, leases: () => leases };
}

describe('a delivery worker', () => {
  it('sleeps until the next delivery is due', async () => {
    const at = performance.now() + 400;
    const { worker, delivered, leases } = startWorker([dueAt(at)]);
    await until(() => delivered.length === 1);
    // Three leases: at the start, when the delivery is due, and after the delivery. Two more are tolerated.
    expect(leases()).toBeLessThanOrEqual(5);
    await worker.stop();
  });

  it('sends a new delivery immediately when nudge() reports it', async () => {
    const { worker, pending, delivered, leases } = startWorker([]);
    await until(() => leases() === 1);
    pending.push(dueAt(0));
    worker.nudge();
    await until(() => delivered.length === 1);
    await worker.stop();
    expect(pending).toEqual([]);
  });

  it('starts the next delivery when a slot becomes free', async () => {
    const pending = Array.from({ length: 20 }, (_, index) => dueAt(0, `${index % 3}`));
    const { worker, delivered } = startWorker(pending, { slots: 2 });
    await until(() => delivered.length === 20);
    await worker.stop();
    expect(pending).toEqual([]);
  });
});
