import { randomBytes, randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { deriveEventKey } from '@clinical-launch/crypto/event-macs';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { describe, expect, it } from '@jest/globals';
import { readEventKeys, readSharedEventKeys } from '../src/event-keys.ts';

const key = () => randomBytes(32);
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

const redeemed = (): CloudEvent =>
  createEvent(
    'launch.token.redeemed.v1',
    {
      source: '/launch-gateway',
      correlationId: randomUUID(),
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      now: new Date(),
    },
    {},
  );
const production = { NODE_ENV: 'production' };

describe('the event keys', () => {
  it('of an event’s source and of its consumer match if each service has its own settings', () => {
    const auditKey = key();
    const gateway = readEventKeys(
      {
        ...production,
        EVENT_SIGNING_KEYS: `audit-trail:${text(deriveEventKey(auditKey, 'launch-gateway'))}`,
      },
      'launch-gateway',
    );
    const audit = readEventKeys(
      {
        ...production,
        EVENT_SIGNING_KEYS: `audit-trail:${text(deriveEventKey(auditKey, 'audit-trail'))}`,
        EVENT_VERIFICATION_KEYS: `new:${text(key())},old:${text(auditKey)}`,
      },
      'audit-trail',
    );
    const event = redeemed();
    const written: CloudEvent = JSON.parse(gateway.writeEvent(event));
    expect(audit.verifierOf('audit-trail')?.(written)).toEqual(event);
    expect(audit.verifierOf('originating-ids')?.(written)).toEqual(event);
    expect(audit.verifierOf('order-renderer')).toBeUndefined();
  });

  it('of the single process and of services with the same SEALING_KEYS match', () => {
    const environment = { SEALING_KEYS: `k1:${text(key())}` };
    const event = redeemed();
    const written: CloudEvent = JSON.parse(readSharedEventKeys(environment).writeEvent(event));
    expect(readEventKeys(environment, 'audit-trail').verifierOf('audit-trail')?.(written)).toEqual(event);
    expect(() => readEventKeys({}, 'audit-trail').verifierOf('audit-trail')?.(written)).toThrow(
      'The source did not write',
    );
  });

  it('must all be present and valid to start in production', () => {
    expect(() => readEventKeys(production, 'order-renderer')).toThrow(
      /EVENT_SIGNING_KEYS has no key for audit-trail[^]*EVENT_VERIFICATION_KEYS is not set/,
    );
    const EVENT_SIGNING_KEYS = `audit-trail:${text(key())}`;
    expect(() => readEventKeys({ ...production, EVENT_SIGNING_KEYS }, 'ordering')).toThrow(
      'EVENT_SIGNING_KEYS has no key for order-renderer',
    );
    expect(() => readEventKeys({ EVENT_SIGNING_KEYS: 'audit-trail:short' }, 'launch-api')).toThrow(
      'must be name:key',
    );
  });

  it('provide a verifier that refuses an event without a signature', async () => {
    const measured = startMeasuring();
    const verify = readEventKeys({}, 'audit-trail').verifierOf('audit-trail');
    expect(() => verify?.(redeemed())).toThrow('The source did not write');
    expect(await measured.read('clinical_launch.events.refused')).toEqual({ 'audit-trail': 1 });
    measured.stop();
  });
});
