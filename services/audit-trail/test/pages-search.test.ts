import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPages, textOf } from './running-pages.ts';
import { aLaunch, anEvent, bairstow } from './some-events.ts';

const guid = randomUUID();
const nhsNumber = '9434765919';
const identifier = 'HS-4711 of Mrs Whitfield';
const longName = 'l'.repeat(301);
let pages: Awaited<ReturnType<typeof startPages>>;
let patient: string;
beforeAll(async () => {
  pages = await startPages();
  patient = pages.pseudonyms.of({ system: 'nhs-number', value: nhsNumber });
  const name = hash('sha256', JSON.stringify([bairstow.issuer, 'pms', identifier]), 'base64url');
  const nurseAt = (code: string, practice: string) =>
    aLaunch(randomUUID(), {
      data: { user: { username: 'nurse', name: 'Nurse Joy' }, practice: { code, name: practice } },
    });
  const launch = aLaunch(guid, { data: { patient, claim: { name, ttlSeconds: 9 } } });
  const order = { orderReferences: ['NCP-000003'], status: 'Requested', tests: 1 };
  await pages.store(
    launch,
    anEvent('order.submitted.v1', { correlationId: guid, data: order }),
    nurseAt('B82002', 'Hill Surgery'),
    nurseAt('C83003', 'Bridge Surgery'),
    anEvent('launch.url.refused.v1', { data: { user: { username: 'refused.user' }, status: 400 } }),
    anEvent('launch.url.refused.v1', { data: { user: { username: longName }, status: 400 } }),
    // A user whose username is a valid NHS number.
    aLaunch(randomUUID(), { data: { user: { username: '4505577104', name: 'Numbered' } } }),
  );
});
afterAll(() => pages.stop());

describe('a search', () => {
  it('is answered 429 above 30 requests a second, and is not recorded', async () => {
    const search = () => pages.send('/audit/?user=burst');
    for (let sent = 0; sent < 30; sent += 1) await search();
    const { status, html } = await search();
    expect([status, textOf(html)]).toEqual([
      429,
      expect.stringContaining('Too many requests in a short time'),
    ]);
    const searches = pages.published.filter(({ type }) => type === 'audit.searched.v1');
    expect(searches).toHaveLength(30);
  });
});

describe('the results', () => {
  it('have one row for each launch, with its outcome and the matching events inside', async () => {
    const [launch, at] = [randomUUID(), (second: number) => `2026-03-02T00:00:0${second}.000Z`];
    const refused = { status: 410, reason: 'token_used' };
    await pages.store(
      aLaunch(launch, { time: at(1) }),
      anEvent('launch.token.redeemed.v1', { correlationId: launch, time: at(2) }),
      anEvent('launch.token.refused.v1', { correlationId: launch, time: at(3), data: refused }),
    );
    const rowOf = async (query: string) => {
      const { html } = await pages.open(`/audit/?user=DBairstow&${query}`);
      return html.split('<tr').filter((row) => row.includes(`/audit/launches/${launch}`));
    };
    for (const [query, count] of [
      ['from=2026-03-02T00:00&to=2026-03-02T00:00', '3 matching events'],
      ['outcome=refused', '1 matching event'],
    ] as const) {
      const [row = '', ...more] = await rowOf(query);
      expect(more).toEqual([]);
      expect(row).toContain('The launch was opened, but a later request was refused');
      expect(row).toMatch(new RegExp(`>${count}<`));
      expect(row.match(/<li>/g)).toHaveLength(Number(count[0]));
    }
  });
});

describe('the search box', () => {
  it.each([
    [
      'a GUID in braces and capital letters',
      () => ` {${guid.toUpperCase()}} `,
      () => `/audit/launches/${guid}`,
    ],
    [
      'an order reference in small letters',
      () => 'ncp-000003',
      () => '/audit/?orderReference=NCP-000003#found',
    ],
    ['an NHS number with spaces', () => '943 476 5919', () => `/audit/?patient=${patient}#found`],
    ['a username', () => 'dbairstow', () => '/audit/?user=DBairstow#found'],
    ['the name of a user', () => 'Dr Bairstow', () => '/audit/?user=DBairstow#found'],
    ['a username that is longer than recorded names', () => longName, () => `/audit/?user=${longName}#found`],
    ['a user named only in a refusal', () => 'refused.user', () => '/audit/?user=refused.user#found'],
    ['a practice code', () => 'a81001', () => '/audit/?practice=A81001#found'],
    ['the name of a practice', () => 'harbour', () => '/audit/?practice=A81001#found'],
    ['a client', () => 'pms', () => '/audit/?client=pms#found'],
  ])('recognises %s', async (_what, typed, address) => {
    expect(await pages.search({ q: typed() })).toMatchObject({ status: 303, address: address() });
  });

  it.each([
    ['harbour 9:10', '?from=2026-03-02T08%3A55&to=2026-03-02T09%3A25&practice=A81001'],
    ['dbairstow, 4.05pm', '?from=2026-03-02T15%3A50&to=2026-03-02T16%3A20&user=DBairstow'],
  ])('reads a time after other words as the minutes of today around it: %s', async (q, query) => {
    expect(await pages.search({ q })).toMatchObject({ status: 303, address: `/audit/${query}#found` });
  });

  it('reads a time without a day as a time of today', async () => {
    const { address } = await pages.search({ q: 'pms', 'from-time': '9', 'to-time': '10:30' });
    expect(address).toBe('/audit/?from=2026-03-02T09%3A00&to=2026-03-02T10%3A30&client=pms#found');
  });

  it('recognises the caller’s own identifier, and encrypts it in the address', async () => {
    const { address } = await pages.search({ q: identifier });
    expect(address).toMatch(/^\/audit\/\?identifier=audit\.[\w-]+#found$/);
    expect(textOf((await pages.open(address.replace('#found', ''))).html)).toContain(guid);
  });

  it('combines its text with the fields under “More”', async () => {
    const form = { q: 'bairstow', practice: 'Harbour Surgery', client: 'pms', outcome: 'success' };
    const { address } = await pages.search(form);
    expect(Object.fromEntries(new URL(address, 'https://audit.example').searchParams)).toEqual({
      user: 'DBairstow',
      practice: 'A81001',
      client: 'pms',
      outcome: 'success',
    });
    expect(textOf((await pages.search({ ...form, practice: 'Hill' })).html)).toContain('Nothing was found');
  });

  it.each([
    ['4:05pm', '16:05'],
    ['12 a.m.', '00:00'],
    ['12pm', '12:00'],
    ['16.05', '16:05'],
    ['905', '09:05'],
    ['7', '07:00'],
    ['', '23:59'],
  ])('reads the time “%s” as %s', async (time, read) => {
    const day = { 'to-day': '2', 'to-month': '3', 'to-year': '2026' };
    const { address } = await pages.search({ q: 'pms', ...day, 'to-time': time });
    expect(new URL(address, 'https://audit.example').searchParams.get('to')).toBe(`2026-03-02T${read}`);
  });

  it('offers one link for each practice if users of several practices have the same username', async () => {
    const { status, html } = await pages.search({ q: 'nurse' });
    const links = [
      ...html.slice(html.indexOf('Which do you mean?')).matchAll(/<li><a href="([^"]+)">([^<]+)</g),
    ].map(([, href, text]) => [text, href?.replaceAll('&amp;', '&')]);
    expect([status, links]).toEqual([
      200,
      [
        ['Nurse Joy (nurse), Hill Surgery (B82002)', '/audit/?user=nurse&practice=B82002#found'],
        ['Nurse Joy (nurse), Bridge Surgery (C83003)', '/audit/?user=nurse&practice=C83003#found'],
      ],
    ]);
    expect(await pages.search({ q: 'nurse', practice: 'hill' })).toMatchObject({
      address: '/audit/?practice=B82002&user=nurse#found',
    });
  });

  it('keeps the search text, and opens “More” only if a field in it has a value', async () => {
    const { html } = await pages.open('/audit/?user=DBairstow');
    expect([/id="q"[^>]*value="DBairstow"/.test(html), /<details[^>]* open/.test(html)]).toEqual([
      true,
      false,
    ]);
    expect((await pages.open('/audit/?user=DBairstow&client=pms')).html).toMatch(/<details[^>]* open/);
  });
});

describe('unrecognised text', () => {
  const valid = '4505577104';

  it.each([
    ['q', valid],
    ['q', '450 557 7104'],
    ['q', 'Whitfield'],
    ['user', 'Whitfield'],
    ['user', valid],
    ['practice', valid],
    ['client', valid],
    ['client', 'Whitfield'],
  ])('appears in no address, log or event: %s %s', async (field, typed) => {
    const [lines, events] = [pages.lines.length, pages.published.length];
    const { status, address, html } = await pages.search({ [field]: typed });
    expect([status, address, textOf(html).includes('Nothing was found')]).toEqual([200, '', true]);
    expect(html).not.toMatch(/href="[^"]*(450|Whitfield)/);
    const recorded = JSON.stringify([pages.lines.slice(lines), pages.published.slice(events)]);
    expect(recorded).not.toMatch(/450 ?557|Whitfield/);
    expect(pages.published.at(-1)).toMatchObject({ type: 'audit.searched.v1', data: { criteria: [field] } });
  });

  it.each([
    ['ten digits that are not an NHS number', { q: '943 476 5918' }, 'q'],
    ['a control character', { q: 'r.adeyemi\0' }, 'q'],
    ['a single space', { q: ' ' }, 'q'],
    [
      'a day that does not exist',
      { q: 'pms', 'from-day': '30', 'from-month': '2', 'from-year': '2026' },
      'from-day',
    ],
    [
      'a time that does not exist',
      { q: 'pms', 'to-day': '2', 'to-month': '3', 'to-year': '2026', 'to-time': 'noon' },
      'to-day',
    ],
  ])('is answered with an error at its field: %s', async (_what, form, field) => {
    const { status, address, html } = await pages.search(form);
    expect([status, address, html.includes(`href="#${field}"`)]).toEqual([400, '', true]);
  });
});

describe('the page “Who has seen this patient”', () => {
  const seenBy = async (patientValue: string) => {
    const body = new URLSearchParams({ patientSystem: 'nhs-number', patientValue });
    const { status, address } = await pages.open('/audit/patients', { method: 'POST', body });
    return { status, text: address === '' ? '' : textOf((await pages.open(address)).html) };
  };

  it.each(['9999999999', '599 012 8088'])('says that a number identifies nobody: %s', async (value) => {
    const { text } = await seenBy(value);
    expect(text).toContain('This number identifies nobody. It is a placeholder, or it is not valid.');
  });

  it('says this of no valid number, and asks the user to check a mistyped number', async () => {
    expect((await seenBy(nhsNumber)).text).not.toContain('identifies nobody');
    expect((await seenBy('9434765918')).status).toBe(400);
  });
});
