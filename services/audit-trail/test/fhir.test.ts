import { randomUUID } from 'node:crypto';
import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fhirAuditEvent } from '../src/present/fhir-audit-event.ts';
import { startAuditTrail } from './running-audit-trail.ts';
import { anEvent } from './some-events.ts';

let audit: Awaited<ReturnType<typeof startAuditTrail>>;
const guid = randomUUID();
const orderGuid = randomUUID();
const identifier = { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9434765919' };
beforeAll(async () => {
  audit = await startAuditTrail();
  const data = {
    issuer: 'https://issuer.example',
    clientId: 'pms',
    action: 'OrderTest',
    ttlSeconds: 10,
    user: { username: 'DBairstow', name: 'Dr Bairstow' },
    practice: { code: 'A81001', name: 'Harbour Surgery' },
    patient: audit.pseudonyms.of({ ...identifier, system: 'nhs-number' }),
    address: '192.0.2.7',
  };
  await audit.append(
    anEvent('launch.url.issued.v1', { correlationId: guid, data, time: '2026-01-01T10:00:00.000Z' }),
    anEvent('order.submitted.v1', {
      correlationId: guid,
      time: '2026-01-02T10:00:00.000Z',
      data: { orderGuid, orderReferences: ['LAB-1'], clientId: 'pms', issuer: data.issuer },
    }),
    ...Object.keys(eventCatalogue).map((type, index) =>
      anEvent(type, {
        time: new Date(Date.parse('2026-01-03T10:00:00Z') + index).toISOString(),
        data: {
          launchId: randomUUID(),
          status: index % 2 === 0 ? 403 : 503,
          reason: 'a_reason',
          address: '2001:db8::1',
        },
      }),
    ),
  );
});
afterAll(() => audit.stop());

type Bundle = {
  entry: { resource: ReturnType<typeof fhirAuditEvent> }[];
  link: { relation: string; url: string }[];
};

const ask = (
  query: string,
  { token = audit.token, ...more }: Omit<RequestInit, 'headers'> & { token?: string } = {},
) =>
  fetch(`${audit.url}/audit/AuditEvent${query}`, {
    ...more,
    headers: { Authorization: `Bearer ${token}` },
  });

async function search(query: string, more: RequestInit = {}): Promise<Bundle> {
  const response = await ask(query, more);
  const bundle: Bundle = JSON.parse(await response.text());
  expect([response.status, response.headers.get('content-type'), bundle]).toEqual([
    200,
    'application/fhir+json; charset=utf-8',
    expect.objectContaining({ resourceType: 'Bundle', type: 'searchset' }),
  ]);
  return bundle;
}

const subtypes = ({ entry }: Bundle) => entry.map(({ resource }) => resource.subtype[0]?.code);

describe('GET /audit/AuditEvent', () => {
  it('returns events of every type in a bundle', async () => {
    const bundle = await search('?date=ge2026-01-01&date=lt2026-02-01&_count=500');
    expect(new Set(subtypes(bundle))).toEqual(new Set(Object.keys(eventCatalogue)));
    for (const { resource } of bundle.entry) {
      expect(resource).toMatchObject({
        resourceType: 'AuditEvent',
        recorded: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        outcome: expect.stringMatching(/^[048]$/),
        source: { observer: { identifier: { system: expect.any(String), value: expect.any(String) } } },
      });
    }
  });

  it.each([
    ['correlation', () => `correlation=${guid}`, ['order.submitted.v1', 'launch.url.issued.v1']],
    ['client', () => 'agent=urn:clinical-launch:client|pms', ['order.submitted.v1', 'launch.url.issued.v1']],
    [
      'user',
      () => 'agent=urn:clinical-launch:user|dbairstow',
      ['order.submitted.v1', 'launch.url.issued.v1'],
    ],
    ["user's name", () => 'agent-name=DBAIRSTOW', ['order.submitted.v1', 'launch.url.issued.v1']],
    ['practice', () => 'site=A81001', ['order.submitted.v1', 'launch.url.issued.v1']],
    ['order', () => `entity=urn:clinical-launch:order|${orderGuid}`, ['order.submitted.v1']],
    ['order reference', () => 'entity=urn:clinical-launch:order-reference|LAB-1', ['order.submitted.v1']],
    ['date', () => 'date=2026-01-02', ['order.submitted.v1']],
    ['period', () => 'date=gt2026-01-01&date=lt2026-01-03', ['order.submitted.v1']],
    ['exact time', () => 'date=eq2026-01-01T10:00:00Z', ['launch.url.issued.v1']],
    ['outcome and type', () => 'outcome=4,8&subtype=launch.token.refused.v1', ['launch.token.refused.v1']],
    [
      'FHIR type',
      () => 'type=110106&date=2026-01-03',
      ['order.document.delivery.failed.v1', 'order.document.delivered.v1'],
    ],
    ['action', () => `action=C&correlation=${guid}`, ['order.submitted.v1']],
    ['type and subtype', () => 'type=rest&subtype=audit.searched.v1', []],
    ['criteria that match no event', () => 'outcome=8&site=A81001', []],
  ])('searches by %s', async (_name, query, expected) => {
    expect(subtypes(await search(`?${query()}`))).toEqual(expected);
  });

  it('links each page to the next', async () => {
    const all = await search('?date=ge2026-01-01&date=lt2026-02-01&_count=500');
    const found: unknown[] = [];
    for (
      let query: string | undefined = '?date=ge2026-01-01&date=lt2026-02-01&_count=7';
      query !== undefined;
    ) {
      const page = await search(query);
      expect(page.entry.length).toBeLessThanOrEqual(7);
      found.push(...page.entry.map(({ resource }) => resource.id));
      const next = page.link.find(({ relation }) => relation === 'next')?.url;
      query = next === undefined ? undefined : new URL(next).search;
    }
    expect(found).toEqual(all.entry.map(({ resource }) => resource.id));
  });

  it.each([
    '?patient:identifier=https://fhir.nhs.uk/Id/nhs-number|9434765919',
    '?date=yesterday',
    '?outcome=9',
    '?entity=urn:clinical-launch:order|1',
    '?_count=0',
    '?date=ge0000-01-01',
    '?date=lt3000-01-01',
    ...['agent', 'agent:identifier', 'agent-name', 'site', 'subtype', 'address'].map(
      (name) => `?${name}=%00`,
    ),
    '?entity=urn:clinical-launch:order-reference|%00',
    '?entity=urn:clinical-launch:patient|9434765919',
    '?patient:identifier=urn:clinical-launch:patient|x',
    '?_after=999999999999999-999999999999999999',
  ])('answers %s with 400 and an OperationOutcome', async (query) => {
    const response = await ask(query);
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([400, { resourceType: 'OperationOutcome' }]);
    expect(text).not.toContain('9434765919');
  });

  it('names the query, not a resource, as the place of an unknown parameter', async () => {
    const outcome: unknown = await (await ask('?unknown=x')).json();
    expect(outcome).toMatchObject({
      issue: [{ details: { text: 'query contains an unknown parameter' }, location: ['http.query'] }],
    });
    expect(outcome).not.toHaveProperty('issue.0.expression');
  });

  it('returns an OperationOutcome with 401 and 403', async () => {
    const token = await audit.issuer.sign({ claims: { scope: 'ocs-launch.write' } });
    const answers = [await ask('', { token: 'no' }), await ask('', { token })];
    expect(answers.map(({ status }) => status)).toEqual([401, 403]);
    const outcome = {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'error', code: expect.any(String) }],
    };
    for (const answer of answers) expect(await answer.json()).toMatchObject(outcome);
  });
});

describe('GET /audit/events', () => {
  const accepting = (query: string, Accept: string) =>
    fetch(`${audit.url}/audit/events?${query}`, {
      headers: { Authorization: `Bearer ${audit.token}`, Accept },
    });

  it.each([
    ['application/fhir+json', 'application/fhir+json'],
    ['application/json;q=0.4, application/fhir+json;q=0.5', 'application/fhir+json'],
    ['application/fhir+json;q=0.4, application/json;q=0.5', 'application/json'],
    ['application/fhir+json;q=0, application/*', 'application/json'],
    ['application/fhir+json, */*;q=0.1', 'application/fhir+json'],
    ['*/*', 'application/json'],
  ])('answers a caller that sends Accept: %s with %s', async (accept, type) => {
    for (const query of ['client=pms', `correlationId=${guid}`]) {
      const { status, headers } = await accepting(query, accept);
      expect([status, headers.get('vary'), headers.get('content-type')]).toEqual([
        200,
        'Accept',
        `${type}; charset=utf-8`,
      ]);
    }
  });

  it('finds the same events as a Bundle, and links each page to the next', async () => {
    const found: (string | undefined)[] = [];
    for (let query: string | undefined = `correlationId=${guid}&limit=1`; query !== undefined; ) {
      const bundle = (await (await accepting(query, 'application/fhir+json')).json()) as Bundle;
      found.push(...subtypes(bundle));
      const next = bundle.link.find(({ relation }) => relation === 'next')?.url;
      query = next?.split('/audit/events?')[1];
    }
    expect(found).toEqual(['order.submitted.v1', 'launch.url.issued.v1']);
  });
});

describe('POST /audit/AuditEvent/_search', () => {
  it('finds the events of a patient by an identifier of the patient, and puts only the patient’s pseudonym in links', async () => {
    const body = new URLSearchParams({
      'patient:identifier': `${identifier.system}|${identifier.value}`,
      // The event of this search also names the patient, and may already be stored.
      date: 'lt2026-02-01',
      _count: '1',
    });
    const bundle = await search('/_search', { method: 'POST', body });
    expect(subtypes(bundle)).toEqual(['order.submitted.v1']);
    expect(JSON.stringify(bundle)).not.toContain(identifier.value);
    const next = bundle.link.find(({ relation }) => relation === 'next')?.url ?? '';
    expect(subtypes(await search(new URL(next).search))).toEqual(['launch.url.issued.v1']);
  });
});
