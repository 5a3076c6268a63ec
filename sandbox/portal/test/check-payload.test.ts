import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { exampleServiceRequest } from '@clinical-launch/contracts/published/example-service-request';
import { type Json, replaceAt } from '@clinical-launch/testing/json-edit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { faultsIn, formOf } from './forms.ts';
import { sandboxClient, startPortal } from './running-portal.ts';

let portal: Awaited<ReturnType<typeof startPortal>>;
let visit: Awaited<ReturnType<typeof portal.signIn>>;
beforeAll(async () => {
  portal = await startPortal([
    sandboxClient('vendor-a'),
    sandboxClient('vendor-b'),
    sandboxClient('vendor-slow', { requestsPerSecond: 1 }),
  ]);
  visit = await portal.signIn('vendor-a');
});
afterAll(() => portal.stop());

const path = '/developers/payload';
const check = async (payload: string) => {
  portal.clock.advance({ seconds: 1 });
  const answer = await visit(path, formOf({ payload }));
  return { answer, page: await answer.text() };
};
const valid = JSON.parse(JSON.stringify(exampleServiceRequest(defaultNamespaces))) as Json;
const synthetic = replaceAt(valid, 'contained[1].identifier[0].value', '9990000018');
const written = (payload: Json) => JSON.stringify(payload, undefined, 2);

/** Invalid values, by the path of their element. */
const mistakes: [path: string, value: Json | undefined][] = [
  ['extension[0].valueString', 'orderTest'],
  ['identifier[0].value', undefined],
  ['authoredOn', '2026-03-02T09:30:00'],
  ['performer', { reference: '#organization-2' }],
  ['contained[1].name[0].use', 'official'],
  ['contained[1].name[0].family', 'x'.repeat(71)],
  ['contained[1].birthDate', '28/02/1958'],
  ['contained[1].gender', undefined],
  ['contained[1].identifier[0].value', '9434765919'],
  ['contained[2].practitioner.reference', '#nobody'],
  ['contained[5].identifier[0].system', 'https://unknown.example'],
];

/** Returns the line at which an element begins, or the line of the nearest parent of a missing element. */
function lineOf(payload: Json, place: string): number {
  const isMissing = written(replaceAt(payload, place, undefined)) === written(payload);
  if (isMissing) return lineOf(payload, place.replace(/(^|\.)[^.[\]]+$|\[\d+\]$/, ''));
  const lines = written(replaceAt(payload, place, 'the marked element')).split('\n');
  return lines.findIndex((line) => line.includes('the marked element')) + 1;
}

describe('the page that checks a payload', () => {
  it('shows every fault that Validate reports at the line of its element', async () => {
    const payload = mistakes.reduce((changed, [place, value]) => replaceAt(changed, place, value), synthetic);
    const validated = await fetch(`${portal.url}/AccessApi/Validate`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${await portal.tokenOf('vendor-a')}`,
        'Content-Type': 'application/json',
        'Code-Challenge': 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      },
      body: written(payload),
    });
    const { errors }: { readonly errors: { path: string; message: string; code: string }[] } = JSON.parse(
      await validated.text(),
    );
    expect(errors.length).toBeGreaterThanOrEqual(mistakes.length);
    const { answer, page } = await check(written(payload));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const expected = errors.map((fault) => ({ ...fault, line: lineOf(payload, fault.path) }));
    const shown = faultsIn(page);
    for (const { line, path: place, message, code } of expected)
      expect(shown).toContainEqual({ line, text: expect.stringContaining(`${place} ${message}`), code });
    expect(shown).toHaveLength(errors.length);
    // Every link of the summary leads to a line of the page.
    const links = [...page.matchAll(/href="#(line-\d+)"/g)].map(([, id = '']) => id);
    expect(links).toHaveLength(errors.length);
    expect(links.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
  });

  it('shows the faults of a payload on one line at the lines of its formatted text', async () => {
    const faulty = replaceAt(synthetic, 'contained[1].birthDate', '28/02/1958');
    const { page } = await check(JSON.stringify(faulty));
    const [fault] = faultsIn(page);
    expect(fault?.line).toBe(lineOf(faulty, 'contained[1].birthDate'));
  });

  it.each([
    ['{\n  "resourceType": "ServiceRequest",\n}', 3],
    ['{\n  "a": 1,\n  "a": 2\n}', 3],
    ['not JSON', 1],
    ['', 1],
    ['[\n'.repeat(70), 65],
  ])('shows the line of a text that is not accepted as JSON, and the reason: %j', async (text, line) => {
    const { answer, page } = await check(text);
    expect([answer.status, faultsIn(page).map((fault) => fault.line)]).toEqual([200, [line]]);
  });

  it('shows only the lines near faults of a long payload', async () => {
    const { page } = await check(
      written(synthetic)
        .replace('{', `{${'\n'.repeat(5000)}`)
        .replace('#role-1', '#role'),
    );
    const [fault] = faultsIn(page);
    expect(fault?.line).toBeGreaterThan(5000);
    expect(page.match(/<li[^>]* value="/g)?.length).toBe(7);
  });

  it('does not format a payload that would become much longer', async () => {
    const nested = `{"a":${'['.repeat(50)}${'1,'.repeat(100_000)}1${']'.repeat(50)}}`;
    const { answer, page } = await check(nested);
    expect([answer.status, page.includes('The page formats it')]).toEqual([200, false]);
    expect(page.length).toBeLessThan(1_000_000);
  });

  it('accepts a byte order mark, as the launch API does', async () => {
    const { page } = await check(`\uFEFF${JSON.stringify(synthetic)}`);
    expect(page).toContain('The payload has no faults');
  });

  it('states that a payload has no faults, and links to the launch builder', async () => {
    const { page } = await check(written(synthetic));
    expect(page).toContain('The payload has no faults');
    expect(page).toContain('href="/developers/launches"');
    expect(faultsIn(page)).toEqual([]);
  });

  it('warns that a laboratory was not checked, because the platform may not know its code', async () => {
    const elsewhere = written(synthetic).replace('"LAB01"', '"ZZZ99"');
    expect(elsewhere).toContain('ZZZ99');
    const { page } = await check(elsewhere);
    expect(page).toContain('The payload has no faults');
    expect(page).toContain('A laboratory is checked only if the operator agreed laboratories');
  });

  it('sends the text unchanged, with the line breaks of the text area', async () => {
    const { page } = await check('{\r\n"a": "1<"\r\n}');
    expect(page).toContain('{\n&quot;a&quot;: &quot;1&lt;&quot;\n}</textarea>');
  });

  it('escapes a pasted payload, and shows it only in the answer to its form', async () => {
    const script = '<script>alert("Marigold Featherstone")</script>';
    const faulty = replaceAt(synthetic, 'contained[1].name[0].family', `${script}${'x'.repeat(70)}`);
    const pastes = [written(faulty), `{ "name": ${script} }`, JSON.stringify(faulty)];
    for (const paste of pastes) {
      const { answer, page } = await check(paste);
      expect(page).toContain('Marigold Featherstone');
      expect(page).not.toContain('<script>alert');
      expect([...answer.headers.values()].join()).not.toContain('Marigold');
    }
    expect(await (await visit(path)).text()).not.toContain('Marigold');
    expect(portal.lines.join('')).not.toContain('Marigold');
  });

  it('answers 413 to a payload that is larger than the launch API accepts', async () => {
    // Percent-encoding turns each brace into three bytes of the form.
    expect((await check('{'.repeat(262_144))).answer.status).toBe(200);
    expect((await check('{'.repeat(262_145))).answer.status).toBe(413);
    expect((await check('{'.repeat(400_000))).answer.status).toBe(413);
  });

  it('places no faults of a payload with more than 20,000 values', async () => {
    const { page } = await check(`{\n"a":\n[${'1,'.repeat(120_000)}1]}${'\n'.repeat(9000)}`);
    expect(new Set(faultsIn(page).map(({ line }) => line))).toEqual(new Set([1]));
  });

  it('shows the lines of a payload with each kind of line break', async () => {
    const { page } = await check('{\r"a": 1,\r\n"b": 2,\n"a": 3}');
    expect(faultsIn(page).map(({ line }) => line)).toEqual([4]);
    expect(page.match(/<li[^>]* value="/g)?.length).toBe(4);
  });

  it('answers 429 to the sixth payload of a session in a second', async () => {
    portal.clock.advance({ seconds: 1 });
    const send = () => visit(path, formOf({ payload: '{' }));
    const statuses = (await Promise.all(Array.from({ length: 6 }, send))).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('answers 401 without a session, and 403 to a form that another website sent', async () => {
    const form = formOf({ payload: '{}' });
    expect((await fetch(portal.url + path)).status).toBe(401);
    expect((await fetch(portal.url + path, form)).status).toBe(401);
    expect((await visit(path, { ...form, headers: { 'Sec-Fetch-Site': 'cross-site' } })).status).toBe(403);
  });
});

describe('a refusal of the launch API', () => {
  it('is shown as a sentence if the client sent too many requests', async () => {
    const send = await portal.signIn('vendor-slow');
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(path, formOf({ payload: '{}' }))));
    const refused = answers.find(({ status }) => status === 429);
    expect(await refused?.text()).toContain('Your client sent too many requests. Wait');
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('asks the developer to sign in again when the access token has expired', async () => {
    const own = await portal.signIn('vendor-b');
    portal.clock.advance({ seconds: 3620 });
    const answer = await own(path, formOf({ payload: '{}' }));
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('your session has ended');
    expect(await (await own('/developers/')).text()).toContain('Sign in with your client');
  });
});
