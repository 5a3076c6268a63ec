import { createHash, randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { schemaFaultsOf } from '@clinical-launch/testing/xml';
import { fixedRegistry } from '@clinical-launch/trust/registry-file';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitDocument } from '../src/http/get-order-document.ts';
import {
  aConfig,
  type RendererPlatform,
  type SubmittedEvent,
  startRendererPlatform,
} from './renderer-platform.ts';
import { orderPatient } from './submitted-order.ts';

describe('the order renderer', () => {
  let platform: RendererPlatform;
  beforeAll(async () => {
    platform = await startRendererPlatform();
  });
  afterAll(() => platform.stop());

  it('returns the Notepad page as HTML with a title and a language', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const { status, type, body } = await platform.read(`/orders/${guid}/notepad`, cookie);
    expect([status, type]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).toMatch(/<html lang="en">[^]*<title>[^<]+<\/title>/);
  });

  it('returns a document that is valid against the schema and contains the order', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const { body, type } = await platform.read(`/orders/${guid}.xml`, cookie);
    expect(type).toBe('application/xml; charset=utf-8');
    expect(await schemaFaultsOf(body)).toEqual([]);
    expect(body).toContain(`<guid>${guid}</guid>`);
    expect(body.match(/<orderBatch>/g)).toHaveLength(2);
  });

  it('offers the document as a file named after the order', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const { headers } = await platform.read(`/orders/${guid}.xml`, cookie);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="order-${guid}.xml"`);
  });

  it.each([
    ['/notepad', "frame-ancestors 'self' https://pms.example"],
    ['.xml', "frame-ancestors 'none'"],
  ])(
    'forbids caching, sniffing, scripts and frames of unregistered sites for %s',
    async (form, ancestors) => {
      const { guid, cookie } = await platform.submitOrder();
      const { headers } = await platform.read(`/orders/${guid}${form}`, cookie);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
      expect(headers.get('content-security-policy')?.endsWith(ancestors)).toBe(true);
    },
  );

  it('waits for a document that has not been rendered yet', async () => {
    const { launchId, cookie } = await platform.openSession();
    const guid = randomUUID();
    const reading = platform.read(`/orders/${guid}/notepad`, cookie);
    await platform.isReading(launchId);
    await platform.submit({ guid, launchId });
    const page = await reading;
    expect(page.status).toBe(200);
    expect(page.body).toContain(`&lt;guid&gt;${guid}&lt;/guid&gt;`);
  });

  it('publishes an event when a document is rendered and each time it is returned, with the patient and launch', async () => {
    const { guid, launchId, cookie } = await platform.submitOrder();
    await platform.read(`/orders/${guid}/notepad`, cookie);
    const document = await platform.read(`/orders/${guid}.xml`, cookie);
    const [, messageId] = /<messageId>(.*)<\/messageId>/.exec(document.body) ?? [];
    const address = '127.0.0.1';
    const about = { patient: orderPatient, orderGuid: guid, messageId };
    expect(await platform.storyOf(launchId, 4)).toEqual([
      ['order.submitted.v1', expect.objectContaining({ orderGuid: guid })],
      ['order.document.rendered.v1', about],
      ['order.document.returned.v1', { ...about, address, by: 'notepad' }],
      ['order.document.returned.v1', { ...about, address, by: 'download' }],
    ]);
    expect(document.headers.get('x-correlation-id')).toBe(launchId);
  });

  it('creates one document for an event, however often it is delivered', async () => {
    const { launchId, cookie } = await platform.openSession();
    const guid = randomUUID();
    const event = await platform.submit({ guid, launchId });
    const first = await platform.read(`/orders/${guid}.xml`, cookie);
    await platform.publish(event);
    const second = await platform.read(`/orders/${guid}.xml`, cookie);
    expect(second.body).toBe(first.body);
    expect(platform.deadLetters).not.toContainEqual(expect.objectContaining({ event }));
    const types = (await platform.storyOf(launchId, 5)).map(([type]) => type);
    expect(types.filter((type) => type === 'order.document.rendered.v1')).toHaveLength(1);
  });

  it('returns the newest document of an order, in whatever sequence the events arrive', async () => {
    const { launchId, cookie } = await platform.openSession();
    const guid = randomUUID();
    await platform.submit({ guid, launchId, familyName: 'Newer', now: new Date('2026-03-02T09:31:00Z') });
    await platform.submit({ guid, launchId, familyName: 'Older', now: new Date('2026-03-02T09:30:00Z') });
    const { body } = await platform.read(`/orders/${guid}.xml`, cookie);
    expect(body).toContain('<familyName>Newer</familyName>');
  });

  it('returns the highest version of an order, even if a lower version has a later event', async () => {
    const { launchId, cookie } = await platform.openSession();
    const guid = randomUUID();
    const older = { guid, launchId, now: new Date('2026-03-02T09:31:00Z'), familyName: 'First' };
    await platform.submit({
      ...older,
      familyName: 'Third',
      orderVersion: 3,
      now: new Date('2026-03-02T09:30:00Z'),
    });
    await platform.submit({ ...older, familyName: 'Second', orderVersion: 2 });
    await platform.submit(older);
    const { body } = await platform.read(`/orders/${guid}.xml`, cookie);
    expect(body).toContain('<familyName>Third</familyName>');
  });

  it.each(['/notepad', '.xml'])('waits on %s for the requested version', async (form) => {
    const { guid, launchId, cookie } = await platform.submitOrder();
    const reading = platform.read(`/orders/${guid}${form}?version=2`, cookie);
    await platform.isReading(launchId);
    await platform.submit({ guid, launchId, familyName: 'Second', orderVersion: 2 });
    expect((await reading).body).toContain('Second');
    expect((await platform.read(`/orders/${guid}${form}?version=1`, cookie)).body).toContain('Second');
  });

  it('reads the version of the order from a request target in absolute form, even if its host is invalid', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const path = `http://host:99999/orders/${guid}/notepad?version=1`;
    const status = await new Promise((resolve, reject) => {
      const asked = get(platform.url, { path, headers: { cookie } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject);
    });
    expect(status).toBe(200);
  });

  it.each(['0', '-1', '2.5', 'two', '', '1&version=1', '99999999999999999999'])(
    'answers 404 for the version %j',
    async (version) => {
      const { guid, cookie } = await platform.submitOrder();
      const { status } = await platform.read(`/orders/${guid}/notepad?version=${version}`, cookie);
      expect(status).toBe(404);
    },
  );

  it('shows the newest document of every order that the launch amended, the requested order first', async () => {
    const { launchId, cookie } = await platform.openSession('PatientRequestList');
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await platform.submit({ guid: first, launchId, familyName: 'First', orderVersion: 2 });
    await platform.submit({ guid: second, launchId, familyName: 'Second', orderVersion: 5 });
    await platform.submit({ guid: second, launchId, familyName: 'Outdated', orderVersion: 4 });
    await platform.submit({ guid: third, launchId, familyName: 'Third' });
    const { body } = await platform.read(`/orders/${second}/notepad`, cookie);
    const fields = [
      ...body.matchAll(/<label for="([^"]+)">([^<]+)<\/label>\n<textarea name="Output" id="([^"]+)"/g),
    ];
    expect(fields.map(([, target, label, id]) => ({ label, isIts: target === id }))).toEqual(
      [second, first, third].map((guid) => ({
        label: `Order document (XML) of request ${guid}`,
        isIts: true,
      })),
    );
    expect(new Set(fields.map(([, , , id]) => id)).size).toBe(3);
    expect(fields[0]?.[3]).toBe('Output');
    expect(body.match(/familyName&gt;(Second|First|Third|Outdated)&lt;/g)).toEqual([
      'familyName&gt;Second&lt;',
      'familyName&gt;First&lt;',
      'familyName&gt;Third&lt;',
    ]);
    const story = (await platform.storyOf(launchId, 11)).slice(8);
    expect(story.map(([type, data]) => [type, 'orderGuid' in data && data.orderGuid])).toEqual(
      [second, first, third].map((guid) => ['order.document.returned.v1', guid]),
    );
  });

  it('shows each of two launches the version of the order that the launch itself submitted', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const other = await platform.openSession('UpdateTest');
    await platform.submit({ guid, launchId: other.launchId, familyName: 'Amended', orderVersion: 2 });
    expect((await platform.read(`/orders/${guid}/notepad`, cookie)).body).not.toContain('Amended');
    const { body } = await platform.read(`/orders/${guid}/notepad`, other.cookie);
    expect(body.match(/<textarea/g)).toHaveLength(1);
    expect(body).toContain('Amended');
  });

  it.each(['/notepad', '.xml'])('answers 401 on %s without a launch session', async (form) => {
    const { guid } = await platform.submitOrder();
    const launchToken = await platform.issueTicket('launch-token');
    for (const cookie of [undefined, 'launch-session=', 'launch-session=unknown', launchToken]) {
      const { status, body } = await platform.read(`/orders/${guid}${form}`, cookie);
      expect(status).toBe(401);
      expect(body).not.toContain('9434765919');
    }
  });

  it.each(['/notepad', '.xml'])(
    'refuses a path without a valid GUID on %s with a page in the layout of the ordering pages',
    async (form) => {
      const { cookie } = await platform.openSession();
      const { headers, type, body } = await platform.read(`/orders/unknown${form}`, cookie);
      expect(type).toBe('text/html; charset=utf-8');
      expect(body).toContain('<h1 class="nhsuk-heading-l">Order document not available</h1>');
      const reference = headers.get('x-correlation-id') ?? '';
      expect(body.indexOf(reference)).toBeLessThan(body.indexOf('Order not found. Open it again'));
      expect(body).toContain(`Reference for support: <strong class="app-reference">${reference}</strong>`);
      for (const [, path = ''] of body.matchAll(/(?:href|src)="(\/[^"]+\.(?:css|svg))"/g))
        expect([path, (await platform.read(path)).status]).toEqual([path, 200]);
      const [, script = ''] = /<script>([^]*?)<\/script>/.exec(body) ?? [];
      const hash = createHash('sha256').update(script).digest('base64');
      expect(headers.get('content-security-policy')).toContain(`script-src 'self' 'sha256-${hash}'`);
    },
  );

  it('asks a browser without a session to open the request again, without a reference for support', async () => {
    const { body } = await platform.read(`/orders/${randomUUID()}/notepad`);
    expect(body).toContain(
      '<p>Your session has ended. Open the request again from your practice system.</p>',
    );
    expect(body).not.toContain('Reference for support');
  });

  it.each(['/notepad', '.xml'])(
    'refuses a program without a session on %s with 401 and no page',
    async (form) => {
      const { status, headers } = await fetch(`${platform.url}/orders/${randomUUID()}${form}`);
      expect([status, headers.get('launch-refusal')]).toEqual([401, 'session_required']);
      expect(headers.get('content-type')).toBeNull();
    },
  );

  it.each(['/notepad', '.xml'])(
    'returns the document on %s despite session cookies that a neighbouring host has set',
    async (form) => {
      const { guid, cookie } = await platform.submitOrder();
      const attackers = await platform.openSession();
      for (const tossed of ['launch-session=tossed', attackers.cookie]) {
        const { status, body } = await platform.read(`/orders/${guid}${form}`, `${tossed}; ${cookie}`);
        expect([status, body.includes('9434765919')]).toEqual([200, true]);
      }
    },
  );

  it('accepts only the __Secure- session cookie if the platform uses https', async () => {
    const secure = await startRendererPlatform(aConfig({ callbacks: { publicUrl: 'https://oltr.example' } }));
    const { guid, cookie } = await secure.submitOrder();
    const statuses = await Promise.all(
      [cookie, `__Secure-${cookie}`].map(
        async (sent) => (await secure.read(`/orders/${guid}.xml`, sent)).status,
      ),
    );
    await secure.stop();
    expect(statuses).toEqual([401, 200]);
  });

  it('redirects a browser from .xml to the path below which it sends the session cookie', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const address = `${platform.url}/orders/${guid}.xml?version=1`;
    const { status, headers } = await fetch(address, { redirect: 'manual' });
    const next = headers.get('location') ?? '';
    expect([status, next]).toEqual([307, `/orders/${guid}/document.xml?version=1`]);
    expect((await platform.read(next, cookie)).body).toBe(
      (await platform.read(`/orders/${guid}.xml`, cookie)).body,
    );
  });

  it('answers 401 when the launch session has ended', async () => {
    const { guid, cookie } = await platform.submitOrder();
    platform.clock.advance({ seconds: 1800 });
    expect((await platform.read(`/orders/${guid}/notepad`, cookie)).status).toBe(401);
  });

  it('answers a launch that amends an order with the document of this launch, not with the previous document', async () => {
    const { guid } = await platform.submitOrder();
    const { launchId, cookie } = await platform.openSession('UpdateTest');
    const reading = platform.read(`/orders/${guid}.xml`, cookie);
    await platform.isReading(launchId);
    await platform.submit({ guid, launchId, familyName: 'Amended' });
    expect((await reading).body).toContain('<familyName>Amended</familyName>');
  });

  it('gives each document of an order its own messageId, a GUID', async () => {
    const { guid, cookie } = await platform.submitOrder();
    const amending = await platform.openSession('UpdateTest');
    await platform.submit({ guid, launchId: amending.launchId, orderVersion: 2 });
    const idOf = async (session: string) => {
      const { body } = await platform.read(`/orders/${guid}.xml`, session);
      return /<messageId>([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})<\/messageId>/.exec(body)?.[1];
    };
    const ids = [await idOf(cookie), await idOf(amending.cookie)];
    expect(ids).not.toContain(undefined);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it.each(['/orders/1/notepad', '/orders/1.xml', '/orders/%27%20or%201=1/notepad'])(
    'answers 404 to %s, which contains no valid GUID',
    async (path) => {
      const { cookie } = await platform.openSession();
      expect((await platform.read(path, cookie)).status).toBe(404);
    },
  );

  it.each(['/notepad/', '/Notepad', '.XML', '.xml/', ''])(
    'answers 404 without a body to /orders/{guid}%s',
    async (ending) => {
      const { guid, cookie } = await platform.submitOrder();
      const { status, body } = await platform.read(`/orders/${guid}${ending}`, cookie);
      expect([status, body]).toEqual([404, '']);
    },
  );

  it('answers HEAD without publishing that the document was returned', async () => {
    const { guid, launchId, cookie } = await platform.submitOrder();
    await platform.read(`/orders/${guid}/notepad`, cookie, 'HEAD');
    await platform.read(`/orders/${guid}.xml`, cookie);
    const [, , returned] = await platform.storyOf(launchId, 3);
    expect(returned).toEqual(['order.document.returned.v1', expect.objectContaining({ by: 'download' })]);
  });

  it('stops waiting when the reader disconnects, without publishing that the document was returned', async () => {
    const { launchId, cookie } = await platform.openSession();
    const guid = randomUUID();
    await platform.leaveWhileWaiting(`/orders/${guid}/notepad`, { launchId, cookie });
    await platform.submit({ guid, launchId });
    await platform.read(`/orders/${guid}.xml`, cookie);
    const returns = (await platform.storyOf(launchId, 3)).slice(2);
    expect(returns).toEqual([['order.document.returned.v1', expect.objectContaining({ by: 'download' })]]);
    const said = platform.lines.filter((line) => line.includes(launchId)).join('');
    expect(said).not.toContain('document_not_ready');
  });

  it.each([
    [
      'an order whose seal was changed',
      (event: SubmittedEvent) => ({ ...event, data: { ...event.data, sealed: 'k.AAAA' } }),
    ],
    [
      'an event with the GUID of another order',
      (event: SubmittedEvent) => ({ ...event, data: { ...event.data, orderGuid: randomUUID() } }),
    ],
    [
      'an event with another version of the order',
      (event: SubmittedEvent) => ({ ...event, data: { ...event.data, orderVersion: 7 } }),
    ],
  ])('rejects %s as a dead letter', async (_case, changed) => {
    const { launchId } = await platform.openSession();
    const event = platform.orderSubmitted({ guid: randomUUID(), launchId });
    await platform.publish({ ...changed(event), id: randomUUID() });
    const letter = platform.deadLetters.at(-1);
    expect(letter?.event.correlationid).toBe(launchId);
    expect((await platform.storyOf(launchId, 1)).map(([type]) => type)).toEqual(['order.submitted.v1']);
  });

  it('rejects sealed data without an order as a dead letter, and repeats none of the data', async () => {
    const { launchId } = await platform.openSession();
    await platform.submit({ guid: randomUUID(), launchId, sealedValue: { patient: 'Whitfield' } });
    const letter = platform.deadLetters.at(-1);
    expect(letter?.event.correlationid).toBe(launchId);
    expect(String(letter?.error)).toMatch(/not a valid order/);
    expect(String(letter?.error)).not.toContain('Whitfield');
  });

  it('writes no patient data to logs and events', async () => {
    const { guid, cookie } = await platform.submitOrder();
    await platform.read(`/orders/${guid}/notepad`, cookie);
    const written = `${platform.lines.join('')}${JSON.stringify(platform.published)}`;
    expect(written).toContain(guid);
    expect(written).not.toMatch(/Súilleabháin|9434765919|1958-?02-?28|Tŷ Gwyn/);
  });
});

describe('a document that is not available in time', () => {
  let platform: RendererPlatform;
  beforeAll(async () => {
    platform = await startRendererPlatform(aConfig({ documentWaitMs: 120 }));
  });
  afterAll(() => platform.stop());

  it.each(['/notepad', '.xml'])('makes %s answer 503 with a page that refreshes', async (form) => {
    const { cookie } = await platform.openSession();
    const { status, headers, body } = await platform.read(`/orders/${randomUUID()}${form}`, cookie);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('2');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toContain('<meta http-equiv="refresh" content="2">');
    expect(body).toContain('<h1 class="nhsuk-heading-l">Order document not available</h1>');
  });

  it('is reported to a program as problem details', async () => {
    const { cookie } = await platform.openSession();
    const response = await fetch(`${platform.url}/orders/${randomUUID()}.xml`, { headers: { cookie } });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await response.json()).toMatchObject({ status: 503, title: expect.stringContaining('prepared') });
  });

  it.each([
    ['the launch', { issuer: 'http://localhost/idp/demo/v2.0', clientId: 'pms-demo' }],
    ['the client', { clientId: 'pms-other' }],
    ['the issuer', { issuer: 'https://idp.example' }],
  ])('is not created from an event that was published again with %s changed', async (_what, changes) => {
    const { guid, launchId: ofVictim } = await platform.submitOrder();
    const { launchId, cookie } = await platform.openSession();
    const event = platform.orderSubmitted({ guid, launchId: ofVictim });
    const data = { ...event.data, launchId, ...changes };
    await platform.publish({ ...event, id: randomUUID(), correlationid: launchId, data });
    expect((await platform.read(`/orders/${guid}.xml`, cookie)).status).toBe(503);
    expect(platform.deadLetters.at(-1)?.event.correlationid).toBe(launchId);
  });

  it.each([
    ['OrderTest', '/notepad'],
    ['OrderTest', '.xml'],
    ['UpdateTest', '/notepad'],
    ['UpdateTest', '.xml'],
  ] as const)(
    'causes the same answer to %s on %s whether the order belongs to another launch or does not exist',
    async (action, form) => {
      const { guid } = await platform.submitOrder();
      const { cookie } = await platform.openSession(action);
      const answers = [];
      for (const order of [guid, randomUUID()]) {
        const { status, headers, body } = await platform.read(`/orders/${order}${form}`, cookie);
        const reported = [...headers].filter(([name]) => !['date', 'x-correlation-id'].includes(name));
        answers.push({ status, reported, body: body.replaceAll(order, '') });
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.status).toBe(503);
      expect(answers[0]?.body).not.toContain('9434765919');
    },
  );

  it.each(['/notepad', '.xml'])(
    'has status 503 on %s, as does a document of a practice to which the client is not bound',
    async (form) => {
      const binding = (code: string) => ({
        practices: { 'ods-organization-code': [code], 'local-org-code': ['B82017'] },
      });
      for (const [code, expected] of [
        ['B82017', 200],
        ['B82018', 503],
      ] as const) {
        const { launchId, cookie } = await platform.openSession('PatientRequestList', binding(code));
        const guid = randomUUID();
        await platform.submit({ guid, launchId });
        expect((await platform.read(`/orders/${guid}${form}`, cookie)).status).toBe(expected);
      }
    },
  );

  it('has status 200 if its practice is an earlier code of a practice to which the client is bound', async () => {
    const ods = (code: string) => ({ system: 'ods-organization-code' as const, code });
    const practices = [{ ...ods('B82018'), formerly: [ods('B82017')] }];
    const merged = await startRendererPlatform(aConfig(), {
      registry: fixedRegistry({ realms: [], practices }),
    });
    const bound = { 'ods-organization-code': ['B82018'], 'local-org-code': [] };
    const { launchId, cookie } = await merged.openSession('PatientRequestList', { practices: bound });
    const guid = randomUUID();
    await merged.submit({ guid, launchId });
    expect((await merged.read(`/orders/${guid}/notepad`, cookie)).status).toBe(200);
    await merged.stop();
  });
});

describe('awaitDocument', () => {
  it('queries again until the document exists', async () => {
    const { look, looks } = lookingAt([undefined, undefined, 'found']);
    expect(await awaitDocument(look, new AbortController().signal)).toBe('found');
    expect(looks()).toBe(3);
  });

  it('stops when the signal aborts, after one last query', async () => {
    const controller = new AbortController();
    const { look, looks } = lookingAt([undefined], (count) => {
      if (count === 3) controller.abort();
    });
    expect(await awaitDocument(look, controller.signal)).toBeUndefined();
    expect(looks()).toBe(4);
  });
});

/** Creates a query that returns the given results in order, and then repeats the last result. */
function lookingAt(lookups: readonly (string | undefined)[], onLook: (count: number) => void = () => {}) {
  let count = 0;
  return {
    look: async () => {
      count += 1;
      onLook(count);
      return lookups[Math.min(count, lookups.length) - 1];
    },
    looks: () => count,
  };
}
