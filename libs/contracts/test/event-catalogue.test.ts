import { describe, expect, it } from '@jest/globals';
import { type Concerning, type EventData, type EventType, eventCatalogue } from '../src/events/catalogue.ts';
import {
  assertCloudEvent,
  assertReceivedEvent,
  createEvent,
  type EventOrigin,
} from '../src/events/cloud-event.ts';

const guid = 'd3b07384-d9a0-4c9b-8f2e-000000000001';
const refusal = {
  status: 401,
  reason: 'invalid_token',
  issuer: 'https://issuer.example',
  clientId: 'pms',
  address: '192.0.2.1',
  count: 12,
};

/** Example data with all members for each event type. The compiler requires an example for every type. */
const examples: { readonly [Type in EventType]: EventData<Type> } = {
  'access.token.issued.v1': {
    realm: 'demo',
    clientId: 'pms',
    tokenId: guid,
    scope: 'ocs-launch.write',
    expiresInSeconds: 3600,
  },
  'access.token.refused.v1': { ...refusal, realm: 'demo' },
  'access.token.revoked.v1': { realm: 'demo', clientId: 'pms', tokenId: guid },
  'access.introspected.v1': {
    realm: 'demo/desktop',
    issuer: 'https://issuer.example',
    clientId: 'resource-server',
    isActive: true,
  },
  'desktop.launch.issued.v1': {
    realm: 'demo/desktop',
    clientId: 'partner',
    issuer: 'https://issuer.example',
    hostClientId: 'host',
    opens: 'service',
    ttlSeconds: 300,
  },
  'desktop.launch.refused.v1': {
    ...refusal,
    realm: 'demo/desktop',
    step: 'launches',
    hostClientId: 'host',
    paths: ['patient.dob'],
  },
  'desktop.code.issued.v1': { realm: 'demo/desktop', clientId: 'partner', ttlSeconds: 60 },
  'desktop.tokens.issued.v1': {
    realm: 'demo/desktop',
    clientId: 'partner',
    grant: 'refresh_token',
    tokenId: guid,
    scope: 'openid launch',
    expiresInSeconds: 3600,
  },
  'desktop.chain.revoked.v1': { realm: 'demo/desktop', reason: 'ended_by_operator', by: 'A Operator' },
  'desktop.logout.delivered.v1': { realm: 'demo/desktop', clientId: 'partner', attempts: 1 },
  'desktop.logout.delivery.failed.v1': {
    realm: 'demo/desktop',
    clientId: 'partner',
    attempts: 3,
    reason: 'not_accepted',
    status: 500,
    isFinal: true,
  },
  'launch.url.issued.v1': {
    issuer: 'https://issuer.example',
    clientId: 'pms',
    action: 'PatientSampleQueue',
    ttlSeconds: 10,
    claim: { name: 'hash-of-an-identifier', ttlSeconds: 34_560_000 },
  },
  'launch.url.refused.v1': { ...refusal, step: 'validate', paths: ['contained[1].name[0].family'] },
  'launch.token.redeemed.v1': {},
  'launch.token.refused.v1': refusal,
  'launch.session.ended.v1': {},
  'launch.window.locked.v1': { launchId: guid, openedLaunchId: guid },
  'launch.window.unlocked.v1': { launchId: guid },
  'launch.ended.v1': { by: 'A Operator, INC-1', reason: 'ended_by_operator' },
  'launches.ended.v1': {
    by: 'A Operator, INC-1',
    selection: { user: 'dr.jones', practice: 'A12345', client: 'pms', partner: 'partner' },
  },
  'order.submitted.v1': {
    orderGuid: guid,
    launchId: guid,
    issuer: 'https://issuer.example',
    clientId: 'pms',
    orderVersion: 2,
    action: 'UpdateTest',
    status: 'Complete',
    batches: 2,
    tests: 3,
    sealed: 'key.ciphertext',
  },
  'order.viewed.v1': { orderGuid: guid, launchId: guid, action: 'PatientReport' },
  'orders.listed.v1': { launchId: guid, action: 'PatientReportList', orders: 0 },
  'order.printed.v1': { orderGuid: guid, launchId: guid, what: 'labels', isReprint: true },
  'order.patient.confirmed.v1': { orderGuid: guid, launchId: guid },
  'order.document.rendered.v1': { orderGuid: guid, messageId: guid },
  'order.document.returned.v1': { orderGuid: guid, messageId: guid, by: 'notepad' },
  'order.document.delivered.v1': {
    orderGuid: guid,
    messageId: guid,
    issuer: 'https://issuer.example',
    clientId: 'pms',
    attempts: 2,
  },
  'order.document.delivery.failed.v1': {
    orderGuid: guid,
    messageId: guid,
    issuer: 'https://issuer.example',
    clientId: 'pms',
    attempts: 1,
    reason: 'not_accepted',
    status: 503,
    isFinal: false,
  },
  'audit.searched.v1': { clientId: 'audit', searchedId: guid },
  'audit.session.started.v1': { clientId: 'audit' },
  'audit.refused.v1': { ...refusal, interface: 'pages' },
  'resource.read.v1': {
    issuer: 'https://issuer.example',
    clientId: 'partner',
    tokenId: guid,
    resource: 'patient',
  },
  'resource.refused.v1': { ...refusal, resource: 'me' },
};
const types = Object.keys(eventCatalogue) as EventType[];

const origin: EventOrigin = {
  source: '/launch-api',
  correlationId: guid,
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
  now: new Date('2026-03-02T09:30:00Z'),
};
const exampleOf = (type: EventType) => createEvent(type, origin, examples[type]);

/** Returns the error message of `assertCloudEvent` for an invalid event. */
function refusalOf(candidate: unknown): string {
  try {
    assertCloudEvent(candidate);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return String(error);
  }
  throw new Error('The event was accepted');
}

describe('the event catalogue', () => {
  it.each(types)('accepts the example of %s', (type) => {
    expect(() => assertCloudEvent(exampleOf(type))).not.toThrow();
  });

  it.each(types)(
    'refuses an unknown member in the data of %s without repeating its name or value',
    (type) => {
      const event = { ...exampleOf(type), data: { ...examples[type], patientName: 'Whitfield' } };
      const said = refusalOf(event);
      expect(said).toMatch(/: data has an unknown property$/);
      expect(said).not.toContain('Whitfield');
    },
  );

  it.each(types)('lets a consumer accept a %s with unknown members from a newer release', (type) => {
    const { user = { username: 'mbair' }, practice = { code: 'B82017' } } = examples[type] as Concerning;
    const data = {
      ...examples[type],
      user: { ...user, newer: 1 },
      practice: { ...practice, newer: null },
      newer: { member: ['Whitfield'] },
    };
    const event = { ...exampleOf(type), subject: 'newer', data };
    expect(() => assertReceivedEvent(event)).not.toThrow();
    expect(refusalOf(event)).toMatch(/has an unknown property/);
    const faulty = { ...event, data: { ...data, user: { ...user, username: 1 } } };
    expect(() => assertReceivedEvent(faulty)).toThrow(/: data.user.username must be of type string$/);
  });

  it.each(types)(
    'lets a consumer accept a %s without user, practice, patient and address, as older releases sent it',
    (type) => {
      const { user: _u, practice: _p, patient: _c, address: _a, ...earlier } = examples[type] as Concerning;
      expect(() => assertReceivedEvent({ ...exampleOf(type), data: earlier })).not.toThrow();
    },
  );

  it.each(types.filter((type) => Object.keys(examples[type]).length > 0))(
    'refuses a member of the wrong type in the data of %s, and names its path',
    (type) => {
      const [member = ''] = Object.keys(examples[type]);
      const event = { ...exampleOf(type), data: { ...examples[type], [member]: [] } };
      expect(refusalOf(event)).toContain(`data.${member} must be of type`);
    },
  );

  /**
   * The maximum lengths of members that occur in several event types. Every value that the registry or a
   * token endpoint accepts must fit.
   */
  const longest = { realm: 100, issuer: 300, clientId: 200, hostClientId: 200, tokenId: 100, scope: 1000 };

  it.each(types)(
    'limits realm, issuer, client ids, token id and scope in %s to their maximum lengths',
    (type) => {
      for (const [member, length] of Object.entries(longest)) {
        if (!Object.hasOwn(examples[type], member)) continue;
        const event = (size: number) => ({
          ...exampleOf(type),
          data: { ...examples[type], [member]: 'x'.repeat(size) },
        });
        expect(() => assertCloudEvent(event(length))).not.toThrow();
        expect(refusalOf(event(length + 1))).toContain(`data.${member}`);
      }
    },
  );

  it.each(types.filter((type) => type.endsWith('.refused.v1')))(
    'limits the status in %s to three digits',
    (type) => {
      const withStatus = (status: number) => ({
        ...exampleOf(type),
        data: { ...examples[type], status },
      });
      for (const status of [400, 599]) expect(() => assertCloudEvent(withStatus(status))).not.toThrow();
      for (const status of [99, 1000]) expect(refusalOf(withStatus(status))).toContain('data.status');
    },
  );

  it.each(types)('contains %s, which is a RabbitMQ routing key and ends in a version', (type) => {
    expect(type).toMatch(/^[a-z]+(\.[a-z]+)+\.v\d+$/);
  });
});

describe('the envelope of an event', () => {
  it('follows CloudEvents 1.0 in structured mode, with a new id for each event', () => {
    const event = exampleOf('launch.token.redeemed.v1');
    expect(event).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: '/launch-api',
      type: 'launch.token.redeemed.v1',
      time: '2026-03-02T09:30:00.000Z',
      datacontenttype: 'application/json',
      correlationid: guid,
      traceparent: origin.traceparent,
      data: {},
    });
    expect(exampleOf('launch.token.redeemed.v1').id).not.toBe(event.id);
  });

  it.each([
    ['specversion', '0.3'],
    ['id', 'not a guid'],
    ['source', 'launch-api'],
    ['time', '2026-03-02 09:30'],
    ['datacontenttype', 'text/plain'],
    ['correlationid', guid.toUpperCase()],
    ['traceparent', '00-0-0-01'],
    ['data', undefined],
  ])('is refused if its %s is invalid', (member, value) => {
    expect(refusalOf({ ...exampleOf('launch.token.redeemed.v1'), [member]: value })).toContain(
      `: ${member} `,
    );
  });

  it('is refused if it has an unknown attribute, without repeating the value', () => {
    const event = { ...exampleOf('launch.token.redeemed.v1'), subject: 'Whitfield' };
    expect(refusalOf(event)).not.toContain('Whitfield');
  });

  it('is refused if its type is not in the catalogue, without repeating the type', () => {
    for (const type of ['launch.token.redeemed.v2', 'constructor', '', 1, undefined]) {
      const event = { ...exampleOf('launch.token.redeemed.v1'), type };
      expect(refusalOf(event)).toBe('TypeError: The type of the event is not in the catalogue');
    }
  });

  it.each([undefined, null, 'event', 1, [], {}])('is refused if the whole event is %j', (candidate) => {
    expect(refusalOf(candidate)).toContain('type of the event is not in the catalogue');
  });
});
