import { assertCloudEvent, type CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';

export type ScriptArgument = string | number | Buffer;

/** Returns a list as the scripts read it: its length, then its items. */
export const listOf = (items: readonly ScriptArgument[]): ScriptArgument[] => [items.length, ...items];

/** Returns a time as the scripts read it. Redis accepts no expiry below one millisecond. */
export const milliseconds = (seconds: number): number => Math.max(1, Math.round(seconds * 1000));

/** Returns a time as the scripts read it; an empty text without one. */
export const millisecondsOrNone = (seconds: number | undefined): ScriptArgument =>
  seconds === undefined ? '' : milliseconds(seconds);

/**
 * Returns the events as the outbox stores them, filed under the correlation id of their chain if they belong
 * to one.
 * @throws TypeError for an event that the bus would refuse: it must not enter the outbox
 */
export function eventTexts(
  write: EventWriter,
  events: readonly CloudEvent[],
  correlationId?: string,
): string[] {
  for (const event of events) assertCloudEvent(event);
  return events.map((event) =>
    write(correlationId === undefined ? event : { ...event, correlationid: correlationId }),
  );
}

/** Returns the items of a reply. @throws Error for a reply that is no list */
export function listIn(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new Error('The script did not return a list');
  return reply;
}
