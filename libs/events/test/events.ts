import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';

const guid = 'd3b07384-d9a0-4c9b-8f2e-000000000001';
const refusal = { status: 401, reason: 'token_unknown' };
const dataOf = { 'launch.token.refused.v1': refusal, 'launch.token.redeemed.v1': {} } as const;

/** Returns a valid event with a random id. */
export function anEvent(
  type: Extract<EventType, keyof typeof dataOf> = 'launch.token.redeemed.v1',
): CloudEvent {
  const origin = {
    source: '/test',
    correlationId: guid,
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    now: new Date('2026-03-02T09:30:00.123Z'),
  };
  return createEvent(type, origin, dataOf[type]);
}

/** Returns `count` events. */
export const someEvents = (count: number): CloudEvent[] => Array.from({ length: count }, () => anEvent());

/** Returns the distinct ids in the order of their first occurrence. */
export const idsOf = (events: readonly CloudEvent[]): string[] => [...new Set(events.map(({ id }) => id))];
