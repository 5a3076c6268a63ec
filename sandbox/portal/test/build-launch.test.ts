import { actions } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { faultsIn, formOf, textOf } from './forms.ts';
import { sandboxClient, startPortal } from './running-portal.ts';

/** The origin of launch URLs, which differs from the origin of the portal. */
const oltrServer = 'https://oltr.example';

let portal: Awaited<ReturnType<typeof startPortal>>;
let visit: Awaited<ReturnType<typeof portal.signIn>>;
beforeAll(async () => {
  const clients = [
    sandboxClient('vendor-a'),
    sandboxClient('vendor-local', { practices: [{ system: 'local-org-code', code: 'P-1' }] }),
  ];
  portal = await startPortal(clients, { OLTR_SERVER: oltrServer });
  visit = await portal.signIn('vendor-a');
});
afterAll(() => portal.stop());

const path = '/developers/launches';
type Built = { readonly identifier: { readonly value: string }[] };

/** Returns the payload that the builder shows for a choice. */
const build = async (choice: Readonly<Record<string, string>> = {}, send = visit) => {
  const answer = await send(path, formOf({ patient: '9990000018', action: 'OrderTest', ...choice }));
  const [, shown = ''] = /<textarea[^>]*>([^]*)<\/textarea>/.exec(await answer.text()) ?? [];
  const payload = textOf(shown);
  const { identifier }: Built = JSON.parse(payload);
  return { payload, identifier: identifier[0]?.value ?? '' };
};
const launch = (payload: string, send = visit) => send(`${path}/open`, formOf({ payload }));
const addressOf = (answer: Response) => answer.headers.get('location') ?? '';
const openUrl = (address: string) => fetch(address.replace(oltrServer, portal.url));

describe('the launch builder', () => {
  it('shows a default payload without secrets', async () => {
    const answer = await visit(path);
    const page = await answer.text();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page).toContain('&quot;resourceType&quot;: &quot;ServiceRequest&quot;');
    expect(page).not.toContain('eyJ');
  });

  it.each(actions)('builds a payload whose launch URL opens: %s', async (action) => {
    const { payload } = await build({ action });
    const answer = await launch(payload);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store']);
    expect((await openUrl(addressOf(answer))).status).toBe(200);
  });

  it('launches each synthetic patient, with a new identifier each time', async () => {
    const page = await (await visit(path)).text();
    const patients = [...page.matchAll(/<option value="(999\d{7})"/g)].map(([, number = '']) => number);
    expect(patients.length).toBeGreaterThanOrEqual(3);
    const built = await Promise.all(patients.map((patient) => build({ patient })));
    for (const [index, { payload }] of built.entries()) {
      expect(payload).toContain(`"${patients[index]}"`);
      expect((await launch(payload)).status).toBe(303);
    }
    expect(new Set(built.map(({ identifier }) => identifier)).size).toBe(patients.length);
  });

  it('opens the launch URL once', async () => {
    const address = addressOf(await launch((await build()).payload));
    expect(address).toMatch(
      /^https:\/\/oltr\.example\/secureLaunch\?launchToken=[\w.-]+&codeVerifier=[\w-]{86}$/,
    );
    const statuses = [(await openUrl(address)).status, (await openUrl(address)).status];
    expect(statuses).toEqual([200, 410]);
  });

  it('repeats the identifier of an earlier OrderTest for an UpdateTest, but not for an OrderTest', async () => {
    const { payload, identifier } = await build();
    expect((await launch(payload)).status).toBe(303);
    const update = await build({ action: 'UpdateTest', identifier });
    expect(update.identifier).toBe(identifier);
    expect((await launch(update.payload)).status).toBe(303);
    expect((await build({ identifier })).identifier).not.toBe(identifier);
    const again = await launch(payload);
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('The identifier of the request was already used');
  });

  it('launches the same payload again with a new identifier, if the form says so', async () => {
    const { payload } = await build();
    const again = () => visit(`${path}/open`, formOf({ payload, isNew: 'yes' }));
    expect([(await again()).status, (await again()).status]).toEqual([303, 303]);
    const form = await (await visit(path)).text();
    expect(form).toMatch(/name="isNew" type="checkbox" value="yes"[^>]* checked/);
    const broken = await visit(`${path}/open`, formOf({ payload: '{"identifier": [', isNew: 'yes' }));
    expect(broken.status).toBe(400);
  });

  it('uses the practice for which the client may launch', async () => {
    const local = await portal.signIn('vendor-local');
    const { payload } = await build({}, local);
    expect(payload).toContain('"P-1"');
    expect((await launch(payload, local)).status).toBe(303);
  });

  it('shows the fault of an NHS number that does not begin with 999 at its line', async () => {
    const { payload } = await build({ nhsNumber: '9434765919' });
    const answer = await launch(payload);
    const page = await answer.text();
    expect([answer.status, addressOf(answer)]).toEqual([400, '']);
    const line = payload.split('\n').findIndex((text) => text.includes('9434765919')) + 1;
    expect(faultsIn(page)).toEqual([
      { line, text: expect.stringContaining('must begin with 999'), code: 'business-rule' },
    ]);
  });

  it('allows the origin of launch URLs for its forms, and no other origin', async () => {
    const policy = (await visit(path)).headers.get('content-security-policy')?.split('; ');
    expect(policy).toContain(`form-action 'self' ${oltrServer}`);
    expect(policy).toContain("frame-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
  });

  it('escapes the entered values, and keeps them out of addresses, logs and later pages', async () => {
    const nhsNumber = '"><script>alert("Marigold")</script>';
    const answer = await visit(
      path,
      formOf({ patient: '9990000018', action: 'UpdateTest', nhsNumber, identifier: nhsNumber }),
    );
    const page = await answer.text();
    expect(page).toContain('Marigold');
    expect(page).not.toContain('<script>alert');
    const refused = await launch((await build({ nhsNumber })).payload);
    expect(await refused.text()).not.toContain('<script>alert');
    expect([...answer.headers.values(), ...refused.headers.values()].join()).not.toContain('Marigold');
    expect(await (await visit(path)).text()).not.toContain('Marigold');
    expect(portal.lines.join('')).not.toContain('Marigold');
  });

  it.each([{ patient: '9434765919' }, { action: 'ordertest' }])(
    'answers 400 to a choice that it does not offer: %j',
    async (choice) => {
      const fields = { patient: '9990000018', action: 'OrderTest', ...choice };
      expect((await visit(path, formOf(fields))).status).toBe(400);
    },
  );

  it.each([path, `${path}/open`])(
    'answers 401 without a session, and 403 to a form that another website sent: %s',
    async (address) => {
      const form = formOf({ payload: '{}' });
      expect((await fetch(portal.url + address, form)).status).toBe(401);
      expect((await visit(address, { ...form, headers: { 'Sec-Fetch-Site': 'cross-site' } })).status).toBe(
        403,
      );
    },
  );
});

describe('a launch', () => {
  it('is logged without the launch URL, the code verifier and the access token', async () => {
    const address = new URL(addressOf(await launch((await build()).payload)));
    const secrets = [...address.searchParams.values()];
    expect(secrets).toHaveLength(2);
    const logged = portal.lines.join('');
    expect(secrets.filter((secret) => logged.includes(secret))).toEqual([]);
    expect(logged).not.toMatch(/eyJ[\w-]+\.eyJ/);
  });

  it('asks the developer to sign in again when the access token has expired', async () => {
    const { payload } = await build();
    portal.clock.advance({ seconds: 3620 });
    const answer = await launch(payload);
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('your session has ended');
  });
});
