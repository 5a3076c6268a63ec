import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { type OutboxSource, startRelay } from '../src/relay.ts';
import { anEvent } from './events.ts';

describe('a relay whose bus is down', () => {
  it('tries less and less often, and no nudge hastens it', async () => {
    const event = anEvent();
    const attempts: number[] = [];
    const source: OutboxSource = {
      async drain(publish: (events: readonly CloudEvent[]) => Promise<void>) {
        await publish([event]);
        return 1;
      },
    };
    const relay = startRelay({
      source,
      publish: async () => {
        attempts.push(performance.now());
        throw new Error('the broker is away');
      },
      onFailure: () => setImmediate(() => relay.nudge()),
      everyMs: 20,
    });
    await until(() => attempts.length === 5);
    await relay.stop();
    const waits = attempts.slice(1, 5).map((at, index) => at - (attempts[index] ?? 0));
    // Timers may fire a millisecond early.
    for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(20 * 2 ** index - 2);
  });
});
