import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { describe, expect, it } from '@jest/globals';
import { type DeadLetter, InProcessBus } from '../src/in-process-bus.ts';
import { describeEventBus } from './event-bus-contract.ts';
import { anEvent, someEvents } from './events.ts';

function create(retryAfterMs = [1, 1]) {
  const reported: DeadLetter[] = [];
  return {
    reported,
    bus: new InProcessBus({ retryAfterMs, onDeadLetter: (letter) => void reported.push(letter) }),
  };
}

describeEventBus('in process', async () => {
  const { bus } = create();
  return {
    bus,
    deliveries: 3,
    deadLetters: async (name) =>
      bus.deadLetters.filter(({ consumer }) => consumer === name).map(({ event }) => event),
    close: () => bus.stop(),
  };
});

describe('InProcessBus', () => {
  it('delivers events that are appended, because the bus is also an outbox', async () => {
    const { bus } = create();
    const handed: CloudEvent[] = [];
    await bus.consume({ name: 'one', handle: async (event) => void handed.push(event) });
    const events = someEvents(3);
    await bus.append(events);
    await bus.idle();
    expect(handed).toEqual(events);
  });

  it('refuses a second consumer with the same name', async () => {
    const { bus } = create();
    await bus.consume({ name: 'one', handle: async () => undefined });
    await expect(bus.consume({ name: 'one', handle: async () => undefined })).rejects.toThrow(
      'The bus already has a consumer one',
    );
  });

  it('reports a dead letter with its consumer and the last error', async () => {
    const { bus, reported } = create([]);
    const error = new Error('the consumer fails');
    await bus.consume({ name: 'one', handle: () => Promise.reject(error) });
    const event = anEvent();
    await bus.publish([event]);
    await bus.idle();
    expect(reported).toEqual([{ consumer: 'one', event, error }]);
  });

  it('is idle only after consumers have handled the events that other consumers published', async () => {
    const { bus } = create();
    const story: string[] = [];
    await bus.consume({
      name: 'cause',
      types: ['launch.token.redeemed.v1'],
      handle: async () => bus.publish([anEvent('launch.token.refused.v1')]),
    });
    await bus.consume({
      name: 'effect',
      types: ['launch.token.refused.v1'],
      handle: async ({ type }) => void story.push(type),
    });
    await bus.publish([anEvent()]);
    await bus.idle();
    expect(story).toEqual(['launch.token.refused.v1']);
  });

  it('retries failed events without a wait when it stops', async () => {
    const { bus, reported } = create([3_600_000, 3_600_000]);
    let attempts = 0;
    await bus.consume({
      name: 'one',
      handle: async () => {
        attempts += 1;
        if (attempts < 3) throw new Error('the consumer fails');
      },
    });
    await bus.publish([anEvent()]);
    await bus.stop();
    expect([attempts, reported]).toEqual([3, []]);
  });
});
