import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { CallbackRefused, type CallbackToVerify, verifyCallback } from '../src/index.ts';

const secret = `whsec_${Buffer.alloc(32, 'old').toString('base64')}`;
const newSecret = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
const sentAt = new Date('2026-03-02T09:30:00Z');
const id = '5f0c8c1e-7b44-4d0e-9a60-6f1d9b3f2a10';

const aCallback = (data: object = {}) => ({
  type: 'order.document',
  timestamp: '2026-03-02T09:29:59.500Z',
  data: {
    orderGuid: 'b5b3ce2e-1a0c-4f6b-8f2c-2f0a55ad1a01',
    orderVersion: 2,
    launchId: 'b5b3ce2e-1a0c-4f6b-8f2c-2f0a55ad1a02',
    messageId: id,
    document: '<?xml version="1.0"?><onlineOrder>Ó Súilleabháin 𠮷</onlineOrder>',
    ...data,
  },
});

/** Returns a callback that the reference library of Standard Webhooks has signed. */
function send(callback: unknown, signing = [secret], body = JSON.stringify(callback)) {
  const signatures = signing.map((one) => new Webhook(one).sign(id, sentAt, body));
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(sentAt.getTime() / 1000),
      'webhook-signature': signatures.join(' '),
    },
    body,
    secrets: [secret],
    now: () => sentAt.getTime() + 299_000,
  } satisfies CallbackToVerify;
}

function faultOf(callback: CallbackToVerify): string {
  try {
    verifyCallback(callback);
  } catch (error) {
    if (!(error instanceof CallbackRefused)) throw error;
    return error.code;
  }
  return 'none';
}

describe('a callback', () => {
  it.each([
    ['text', (body: string) => body],
    ['bytes', (body: string) => Buffer.from(body)],
  ])('is accepted if the reference library signed it and the body is passed as %s', (_what, as) => {
    const sent = send(aCallback());
    expect(verifyCallback({ ...sent, body: as(sent.body) })).toEqual({ id, ...aCallback() });
  });

  it('is accepted if its headers are a Headers object of fetch', () => {
    const sent = send(aCallback());
    expect(verifyCallback({ ...sent, headers: new Headers(sent.headers) }).id).toBe(id);
  });

  it('is accepted during a secret rotation if it is signed with the old secret, the new secret or both', () => {
    for (const signing of [[secret], [newSecret], [secret, newSecret]]) {
      expect(faultOf({ ...send(aCallback(), signing), secrets: [secret, newSecret] })).toBe('none');
    }
    expect(faultOf({ ...send(aCallback(), [secret, newSecret]), secrets: [newSecret] })).toBe('none');
  });

  it('has the same signature as the test vector that Standard Webhooks publishes', () => {
    const vector = {
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      body: '{"test": 2432232314}',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      now: () => 1_614_265_330_000,
    };
    expect(faultOf(vector)).toBe('malformed');
    expect(faultOf({ ...vector, body: '{"test": 2432232315}' })).toBe('bad_signature');
  });
});

describe('an invalid callback', () => {
  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'is refused unless it has exactly one header %s',
    (name) => {
      const sent = send(aCallback());
      expect(faultOf({ ...sent, headers: { ...sent.headers, [name]: undefined } })).toBe('missing_header');
      expect(faultOf({ ...sent, headers: { ...sent.headers, [name]: ['a', 'b'] } })).toBe('missing_header');
    },
  );

  it.each([
    ['another secret', { secrets: [newSecret] }],
    ['no secret', { secrets: [] }],
    ['another body', { body: JSON.stringify(aCallback({ document: '<onlineOrder/>' })) }],
  ])('is refused because its signature does not match: %s', (_what, changed) => {
    expect(faultOf({ ...send(aCallback()), ...changed })).toBe('bad_signature');
  });

  it.each([
    ['webhook-id', 'another'],
    ['webhook-timestamp', '1772443801'],
    ['webhook-signature', 'v1,'],
    ['webhook-signature', ' '],
    ['webhook-signature', 'v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
  ])('is refused if the header %s has the value %j', (name, value) => {
    const sent = send(aCallback());
    expect(faultOf({ ...sent, headers: { ...sent.headers, [name]: value } })).toBe('bad_signature');
  });

  it.each([301_000, -301_000])(
    'is refused as a possible replay if the clock differs from its timestamp by %i ms',
    (offBy) => {
      const sent = send(aCallback());
      const now = () => sentAt.getTime() + offBy;
      expect(faultOf({ ...sent, now })).toBe('stale');
      expect(faultOf({ ...sent, now, toleranceSeconds: 400 })).toBe('none');
    },
  );

  it.each([
    ['with another type', { ...aCallback(), type: 'order.deleted' }],
    ['without a document', aCallback({ document: undefined })],
    ['with a version that is not a number', aCallback({ orderVersion: '2' })],
    ['without data', { type: 'order.document', timestamp: 'x' }],
    ['with a list as its body', []],
  ])('is refused %s, although its signature is valid', (_what, callback) => {
    expect(faultOf(send(callback))).toBe('malformed');
  });

  it('is refused if it is not JSON, although its signature is valid', () => {
    expect(faultOf(send(undefined, [secret], '{'))).toBe('malformed');
  });
});

describe('a callback secret', () => {
  it.each(['', 'whsec_', 'whsec_c2hvcnQ=', 'secret', secret.slice(6)])('must not be %j', (wrong) => {
    expect(() => verifyCallback({ ...send(aCallback()), secrets: [wrong] })).toThrow(TypeError);
  });
});
