import { createLogger } from '@clinical-launch/runtime/logger';
import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { startDeliveryWorker } from '../src/delivery-worker.ts';

const anHourMs = 3_600_000;

type Due = { readonly receiver: string; readonly at: number; readonly traceparent: string };

const dueAt = (at: number, receiver = 'one'): Due => ({ receiver, at, traceparent: '' });

/** Starts a worker on deliveries in memory. It polls by itself only after an hour. */
function startWorker(pending: Due[], { slots = 8 } = {}) {
  const clock = { now: () => performance.now() };
  const delivered: Due[] = [];
  let claims = 0;
  const free = (busy: readonly string[]) => pending.filter(({ receiver }) => !busy.includes(receiver));
  const worker = startDeliveryWorker<Due>({
    slots,
    pollMs: anHourMs,
    claim: async (busy) => {
      claims += 1;
      const due = free(busy).find(({ at }) => at <= clock.now());
      if (due !== undefined) pending.splice(pending.indexOf(due), 1);
      return due;
    },
    nextDueAt: async (busy) => {
      const times = free(busy).map(({ at }) => at);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    attempt: async (due) => void delivered.push(due),
    receiverOf: ({ receiver }) => receiver,
    what: 'letters',
    clock,
    logger: createLogger({ level: 'silent' }),
  });
  return { worker, pending, delivered, claims: () => claims };
}

describe('a delivery worker', () => {
  it('sleeps until the next delivery is due, without polls in between', async () => {
    const at = performance.now() + 400;
    const { worker, delivered, claims } = startWorker([dueAt(at)]);
    await until(() => delivered.length === 1);
    // One when it starts, and two when the delivery is due and when it has ended.
    expect(claims()).toBeLessThanOrEqual(5);
    await worker.stop();
  });

  it('is woken by a delivery that was added meanwhile', async () => {
    const { worker, pending, delivered, claims } = startWorker([]);
    await until(() => claims() === 1);
    pending.push(dueAt(0));
    worker.nudge();
    await until(() => delivered.length === 1);
    await worker.stop();
    expect(pending).toEqual([]);
  });

  it('continues when a slot is free again', async () => {
    const pending = Array.from({ length: 20 }, (_, index) => dueAt(0, `${index % 3}`));
    const { worker, delivered } = startWorker(pending, { slots: 2 });
    await until(() => delivered.length === 20);
    await worker.stop();
    expect(pending).toEqual([]);
  });
});
