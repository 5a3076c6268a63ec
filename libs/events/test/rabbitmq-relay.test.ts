import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { type OutboxSource, startRelay } from '../src/relay.ts';
import { anEvent } from './events.ts';

describe('a relay whose bus is down', () => {
  it('doubles its delay after each failure, even if nudge() requests a poll', async () => {
    const event = anEvent();
    let attempts = 0;
    const { waits, stopRecording } = recordWaits();
    const source: OutboxSource = {
      async drain(publish: (events: readonly CloudEvent[]) => Promise<void>) {
        await publish([event]);
        return 1;
      },
    };
    const relay = startRelay({
      source,
      publish: async () => {
        attempts += 1;
        throw new Error('the broker is down');
      },
      onFailure: () => setImmediate(() => relay.nudge()),
      everyMs: 20,
    });
    await until(() => attempts === 5);
    stopRecording();
    await relay.stop();
    expect(waits).toEqual([20, 40, 80, 160]);
  });
});

/**
 * Records the delay of each timer that fires. If `nudge` ended a wait early, the timer of the wait would be
 * cleared.
 */
function recordWaits() {
  const waits: number[] = [];
  const { setTimeout: setRealTimeout } = globalThis;
  const setRecorded = (act: () => void, ms = 0) =>
    setRealTimeout(() => {
      waits.push(ms);
      act();
    }, ms);
  globalThis.setTimeout = Object.assign(setRecorded, setRealTimeout);
  return { waits, stopRecording: () => (globalThis.setTimeout = setRealTimeout) };
}
