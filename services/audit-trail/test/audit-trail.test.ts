import { randomUUID } from 'node:crypto';
import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openSchema } from '../src/store/tables.ts';
import { startAuditTrail } from './running-audit-trail.ts';

const pageSize = 500;

let audit: Awaited<ReturnType<typeof startAuditTrail>>;
beforeAll(async () => {
  audit = await startAuditTrail();
});
afterAll(() => audit.stop());

type Found = { correlationId: string; events: CloudEvent[]; next?: string };

/** Sends a query with the support desk's token, or with the given token. */
const ask = (pathAndQuery: string, { token = audit.token, method = 'GET' } = {}) =>
  fetch(audit.url + pathAndQuery, {
    method,
    headers: token === '' ? {} : { Authorization: `Bearer ${token}` },
  });

async function search(pathAndQuery: string): Promise<Found> {
  const response = await ask(pathAndQuery);
  expect(response.status).toBe(200);
  const found: Found = JSON.parse(await response.text());
  return found;
}
const searchFor = (correlationId: string) => search(`/audit/events?correlationId=${correlationId}`);

function anEvent<T extends EventType>(correlationId: string, type: T, data: EventData<T>): CloudEvent {
  const origin = {
    source: '/test',
    correlationId,
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    now: new Date('2026-03-02T09:30:00Z'),
  };
  return createEvent(type, origin, data);
}
const aRefusal = (correlationId: string, reason = 'token_unknown') =>
  anEvent(correlationId, 'launch.token.refused.v1', { status: 401, reason });

describe('GET /audit/events', () => {
  it('returns the events of a GUID in order of time, whatever their order of arrival', async () => {
    const guid = randomUUID();
    const later = { ...aRefusal(guid), time: '2026-03-02T10:00:00.000Z' };
    const earlier = anEvent(guid, 'launch.token.redeemed.v1', {});
    await audit.publish(later, aRefusal(randomUUID()), earlier);
    expect(await searchFor(guid)).toEqual({ correlationId: guid, events: [earlier, later] });
  });

  it('returns no events for an unknown GUID', async () => {
    const guid = randomUUID();
    expect(await searchFor(guid)).toEqual({ correlationId: guid, events: [] });
  });

  it('accepts a GUID in capital letters', async () => {
    const guid = randomUUID();
    await audit.publish(aRefusal(guid));
    expect((await searchFor(guid.toUpperCase())).events).toHaveLength(1);
  });

  it('forbids caching of its answers', async () => {
    const response = await ask(`/audit/events?correlationId=${randomUUID()}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

describe('an event', () => {
  it('is stored once, however often it is delivered', async () => {
    const guid = randomUUID();
    const [one, two] = [aRefusal(guid), aRefusal(guid, 'token_used')];
    await audit.publish(one);
    await audit.publish(two, one);
    await audit.publish(one, two);
    expect((await searchFor(guid)).events).toEqual([one, two]);
    expect(audit.deadLetters).toEqual([]);
  });

  it('of a newer release is stored with its unknown members', async () => {
    const guid = randomUUID();
    const newer = { ...aRefusal(guid), subject: 'newer' } as CloudEvent;
    Object.assign(newer.data, { newer: { member: [1] }, sealed: 'key.ciphertext' });
    await audit.publish(newer);
    const { sealed: _, ...data } = newer.data as Record<string, unknown>;
    expect((await searchFor(guid)).events).toEqual([{ ...newer, data }]);
    expect(audit.deadLetters).toEqual([]);
  });

  it('that cannot be stored becomes a dead letter, and the other events of its batch are stored in order', async () => {
    const guid = randomUUID();
    const batch = ['one', 'two', 'poison', 'three'].map((reason) => aRefusal(guid, reason));
    const [one, two, bad, three] = batch;
    await audit.withoutPoison(() => audit.publish(...batch));
    expect((await searchFor(guid)).events).toEqual([one, two, three]);
    expect(audit.deadLetters.splice(0)).toMatchObject([{ event: bad }]);
  });

  it('is stored without the data sealed for another consumer', async () => {
    const guid = randomUUID();
    const data = {
      orderGuid: randomUUID(),
      launchId: guid,
      issuer: 'https://issuer.example',
      clientId: 'pms',
      batches: 2,
      tests: 3,
    };
    await audit.publish(anEvent(guid, 'order.submitted.v1', { ...data, sealed: 'key.ciphertext' }));
    const { events } = await searchFor(guid);
    expect(events).toEqual([expect.objectContaining({ type: 'order.submitted.v1', data })]);
    expect(JSON.stringify(events)).not.toContain('ciphertext');
  });
});

describe('a long result', () => {
  it('is split into pages that each link to the next page, in order and without a gap', async () => {
    const guid = randomUUID();
    const events = Array.from({ length: 2 * pageSize + 1 }, (_, index) => aRefusal(guid, `reason ${index}`));
    await audit.publish(...events);
    const pages: Found[] = [];
    for (
      let next: string | undefined = `/audit/events?correlationId=${guid}`;
      next !== undefined;
      next = pages.at(-1)?.next
    ) {
      pages.push(await search(next));
    }
    expect(pages.map((page) => page.events.length)).toEqual([pageSize, pageSize, 1]);
    expect(pages.flatMap((page) => page.events)).toEqual(events);
  });

  it('has no next page if its events fill exactly one page', async () => {
    const guid = randomUUID();
    await audit.publish(...Array.from({ length: pageSize }, () => aRefusal(guid)));
    const { events, next } = await searchFor(guid);
    expect([events.length, next]).toEqual([pageSize, undefined]);
  });
});

describe('each search', () => {
  it('is recorded as an event with the client, the search and its correlation ID', async () => {
    const guid = randomUUID();
    const response = await ask(`/audit/events?correlationId=${guid}`);
    await audit.bus.idle();
    const own = response.headers.get('x-correlation-id') ?? '';
    expect((await searchFor(own)).events).toEqual([
      expect.objectContaining({
        type: 'audit.searched.v1',
        source: '/audit-trail',
        correlationid: own,
        data: expect.objectContaining({ clientId: 'audit', searchedId: guid }),
      }),
    ]);
  });
});

describe('authorization', () => {
  const path = `/audit/events?correlationId=${randomUUID()}`;

  it('fails with 401 if the token is missing or invalid, or 403 if it lacks audit.read, both without a body, and is recorded', async () => {
    const tokens: [number, string][] = [
      [401, ''],
      [401, 'not.a.token'],
      [401, await audit.issuer.sign({ claims: { exp: Math.floor(audit.clock.now() / 1000) - 11 } })],
      [403, await audit.issuer.sign({ claims: { scope: 'ocs-launch.write' } })],
      [403, await audit.issuer.sign({ claims: { scope: undefined } })],
    ];
    for (const [status, token] of tokens) {
      const response = await ask(path, { token });
      expect([response.status, await response.text()]).toEqual([status, '']);
      const id = response.headers.get('x-correlation-id');
      await audit.bus.idle();
      expect(audit.published.filter(({ correlationid }) => correlationid === id)).toMatchObject([
        { type: 'audit.refused.v1', data: { status, interface: 'events' } },
      ]);
    }
  });

  it.each([{ scope: 'audit.read' }, { scp: ['audit.read'] }, { roles: ['audit.read', 'ocs-launch.write'] }])(
    'fails with 403 if a customer’s issuer grants its own client the right to read: %j',
    async (rights) => {
      const token = await audit.customer.sign({ claims: { scope: undefined, ...rights } });
      const response = await ask(`/audit/events?correlationId=${randomUUID()}`, { token });
      expect(response.status).toBe(403);
    },
  );

  it('is checked before the query', async () => {
    const response = await ask('/audit/events', { token: '' });
    expect(response.status).toBe(401);
  });
});

describe('an invalid query', () => {
  it.each([
    ['no GUID', ''],
    ['an empty GUID', 'correlationId='],
    ['a word instead of a GUID', 'correlationId=Whitfield'],
    ['text after the GUID', `correlationId=${randomUUID()}x`],
    ['two GUIDs', `correlationId=${randomUUID()}&correlationId=${randomUUID()}`],
    ['a misspelt parameter', `correlationid=${randomUUID()}`],
  ])('with %s is answered with 400 and the path of the fault', async (_fault, query) => {
    const response = await ask(`/audit/events?${query}`);
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      status: 400,
      correlationId: response.headers.get('x-correlation-id'),
      errors: [
        { path: 'correlationId', message: 'must be one GUID, exactly as in X-Correlation-Id', code: 'value' },
      ],
    });
    expect(text).not.toContain('Whitfield');
  });

  it.each(['-1', 'x', '', '9'.repeat(19), '1;drop'])(
    'with the cursor %j is answered with 400',
    async (after) => {
      const query = `correlationId=${randomUUID()}&after=${encodeURIComponent(after)}`;
      const response = await ask(`/audit/events?${query}`);
      expect(response.status).toBe(400);
      expect(JSON.parse(await response.text())).toMatchObject({ errors: [{ path: 'after' }] });
    },
  );
});

describe('a replica that stops', () => {
  it('signs a checkpoint of the last row that it stored', async () => {
    const replica = await startAuditTrail({ shared: audit.storage });
    await replica.publish(aRefusal(randomUUID()));
    await replica.stop();
    const { rows } = await sql`select 1 from audit_trail.checkpoint
      where sequence = (select max(sequence) from audit_trail.audit_event)`.execute(
      await openSchema(audit.storage),
    );
    expect(rows).toHaveLength(1);
  });
});

describe('the endpoint', () => {
  it('answers 404 to other spellings of the path, and 405 to other methods', async () => {
    for (const path of ['/audit/Events', '/audit/events/']) expect((await ask(path)).status).toBe(404);
    const response = await ask('/audit/events', { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
  });
});
