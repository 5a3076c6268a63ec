import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startAuditTrail } from './running-audit-trail.ts';
import { anEvent } from './some-events.ts';

let audit: Awaited<ReturnType<typeof startAuditTrail>>;
const guid = randomUUID();
const identifier = { system: 'https://fhir.nhs.uk/Id/nhs-number', value: '9434765919' };
const events: CloudEvent[] = [];
beforeAll(async () => {
  audit = await startAuditTrail();
  const data = {
    issuer: 'https://issuer.example',
    clientId: 'pms',
    action: 'OrderTest',
    ttlSeconds: 10,
    user: { username: 'DBairstow', name: 'Dr Bairstow' },
    practice: { code: 'A81001' },
    patient: audit.pseudonyms.of({ ...identifier, system: 'nhs-number' }),
  };
  events.push(
    anEvent('launch.url.issued.v1', { correlationId: guid, data, source: '/launch-api' }),
    anEvent('launch.token.redeemed.v1', { correlationId: guid, source: '/launch-gateway' }),
    ...Array.from({ length: 3 }, (_, index) =>
      anEvent('launch.url.refused.v1', {
        source: '/launch-api',
        data: { clientId: 'pms', issuer: data.issuer, status: 400, reason: `reason_${index}` },
      }),
    ),
  );
  await audit.publish(...events);
});
afterAll(() => audit.stop());

type Answer = { entries: { id: string; cursor: string; event: CloudEvent }[]; next?: string };

const authorized = () => ({ Authorization: `Bearer ${audit.token}` });

const ask = (query: string, headers: Record<string, string> = {}) =>
  fetch(`${audit.url}/audit/events?${query}`, { headers: { ...authorized(), ...headers } });

async function search(query: string): Promise<Answer> {
  const response = await ask(query);
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const answer: Answer = JSON.parse(await response.text());
  return answer;
}

const post = (body: string, type = 'application/x-www-form-urlencoded', headers = authorized()) =>
  fetch(`${audit.url}/audit/events/_search`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': type },
    body,
  });

const idsOf = (answer: Answer) => answer.entries.map(({ id }) => id);
const ids = () => events.map(({ id }) => id);

describe('GET /audit/events', () => {
  it('returns entries with their own and their inherited details, newest first', async () => {
    const { entries } = await search('user=dbairstow&practice=A81001');
    expect(entries).toEqual([
      expect.objectContaining({
        id: ids()[1],
        outcome: 'success',
        client: 'pms',
        user: 'DBairstow',
        practice: 'A81001',
        action: 'OrderTest',
        correlationId: guid,
        event: events[1],
      }),
      expect.objectContaining({ id: ids()[0], event: events[0] }),
    ]);
    expect(entries[0]).not.toHaveProperty('reason');
  });

  it('returns a cursor for the next page', async () => {
    const first = await search('outcome=refused&client=pms&limit=2');
    const second = await search(`outcome=refused&client=pms&limit=2&after=${first.next}`);
    expect([idsOf(first), idsOf(second), second.next]).toEqual([[ids()[4], ids()[3]], [ids()[2]], undefined]);
  });

  it('returns all entries, one per line, to a caller that accepts NDJSON', async () => {
    const response = await ask('client=pms', { Accept: 'application/x-ndjson' });
    const lines = (await response.text()).trim().split('\n');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids().toReversed());
  });

  it.each([
    ['client=pms&clent=x', [{ path: 'query', message: 'contains an unknown parameter' }]],
    ['client=pms&client=x', [{ path: 'client', message: 'must not be sent more than once' }]],
    ['client=pms&from=yesterday', [{ path: 'from' }]],
    ['outcome=lost&type=no.such.event', [{ path: 'outcome' }, { path: 'type' }]],
    ['patient=9434765919', [{ path: 'patient' }]],
    ['client=pms&after=1', [{ path: 'after' }]],
    ['client=pms&limit=0', [{ path: 'limit' }]],
    [
      'patientSystem=a&patientValue=9434765919',
      [
        { path: 'patientSystem', message: 'must be sent in the body of a POST' },
        { path: 'patientValue', message: 'must be sent in the body of a POST' },
      ],
    ],
    ['identifier=x', [{ path: 'identifier', message: 'must be sent in the body of a POST' }]],
    ...['client', 'user', 'practice', 'orderReference', 'action', 'reason', 'address'].map(
      (name): [string, object[]] => [
        `${name}=x%00`,
        [{ path: name, message: 'must not contain control characters' }],
      ],
    ),
    ...['0000-01-01', '1899-12-31', '3000-01-01', '9999-12-31T23:59Z', '2026-02-30'].map(
      (time): [string, object[]] => [`from=${time}&to=${time}`, [{ path: 'from' }, { path: 'to' }]],
    ),
    ['client=pms&after=999999999999999-999999999999999999', [{ path: 'after' }]],
  ])('answers %s with 400 and lists every fault', async (query, errors) => {
    const response = await ask(query);
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toEqual([
      400,
      expect.objectContaining({ errors: errors.map((error) => expect.objectContaining(error)) }),
    ]);
    expect(text).not.toContain('9434765919');
  });

  it('records the names of the search parameters in an event', async () => {
    const response = await ask('user=dbairstow&from=2026-03-02');
    await audit.bus.idle();
    const own = response.headers.get('x-correlation-id') ?? '';
    const { entries } = await search(`type=audit.searched.v1&correlationId=${own}`);
    expect(entries.map(({ event }) => event.data)).toEqual([
      expect.objectContaining({ clientId: 'audit', criteria: ['user', 'from'], format: 'json' }),
    ]);
  });
});

describe('POST /audit/events/_search', () => {
  it('finds the events of a patient by an identifier of the patient, and records only the patient’s pseudonym', async () => {
    const form = new URLSearchParams({ patientSystem: identifier.system, patientValue: identifier.value });
    const response = await post(form.toString());
    const text = await response.text();
    const own = response.headers.get('x-correlation-id') ?? '';
    // The event of this search also names the patient, and may already be stored.
    const found = (JSON.parse(text) as Answer).entries.filter(({ event }) => event.correlationid !== own);
    expect(found.map(({ id }) => id)).toEqual([ids()[1], ids()[0]]);
    expect(text).not.toContain(identifier.value);
    expect(audit.lines.join('')).not.toContain(identifier.value);
    await audit.bus.idle();
    const { entries } = await search(`type=audit.searched.v1&correlationId=${own}`);
    const patient = audit.pseudonyms.of({ ...identifier, system: 'nhs-number' });
    expect(entries.map(({ event }) => event.data)).toEqual([
      expect.objectContaining({ patient, criteria: ['patientSystem', 'patientValue'] }),
    ]);
  });

  it('accepts JSON', async () => {
    const response = await post(
      JSON.stringify({ client: 'pms', outcome: ['refused', 'failed'], limit: 1 }),
      'application/json',
    );
    expect(idsOf(JSON.parse(await response.text()))).toEqual([ids()[4]]);
  });

  it.each([
    ['text/plain', 'client=pms', 415],
    ['application/json', '[]', 400],
    ['application/json', '{"client":{}}', 400],
    ['application/json', String.raw`{"client":"\u0000"}`, 400],
    ['application/x-www-form-urlencoded', 'patientValue=9434765919', 400],
  ])('answers %s %s with %d', async (type, body, status) => {
    expect((await post(body, type)).status).toBe(status);
  });

  it('answers 401 or 403 before it reads the body', async () => {
    const token = await audit.issuer.sign({ claims: { scope: 'ocs-launch.write' } });
    expect((await post('client=pms', undefined, { Authorization: '' })).status).toBe(401);
    expect((await post('client=pms', undefined, { Authorization: `Bearer ${token}` })).status).toBe(403);
  });
});
