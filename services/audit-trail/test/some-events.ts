import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';

type About = {
  readonly correlationId?: string;
  readonly time?: string;
  readonly source?: string;
  readonly data?: Readonly<Record<string, unknown>>;
};

let events = 0;

/** Returns an event, one millisecond later than the previous event unless `time` is given. */
export function anEvent(
  type: string,
  { correlationId = randomUUID(), time, source = '/test', data = {} }: About = {},
): CloudEvent {
  events += 1;
  return {
    specversion: '1.0',
    id: randomUUID(),
    source,
    type,
    time: time ?? new Date(Date.parse('2026-03-02T09:30:00Z') + events).toISOString(),
    datacontenttype: 'application/json',
    correlationid: correlationId,
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    data,
  } as unknown as CloudEvent;
}

/** The client, user, practice and patient of a launch. */
export const bairstow = {
  issuer: 'https://issuer.example',
  clientId: 'pms',
  action: 'OrderTest',
  user: { username: 'DBairstow', name: 'Dr Bairstow' },
  practice: { code: 'A81001', name: 'Harbour Surgery' },
  patient: 'p'.repeat(43),
  address: '192.0.2.7',
};

/** Returns the first event of a launch. */
export const aLaunch = (correlationId: string, { time, data = {} }: About = {}): CloudEvent =>
  anEvent('launch.url.issued.v1', {
    correlationId,
    ...withoutUndefined({ time }),
    data: { ...bairstow, ttlSeconds: 10, ...data },
  });
