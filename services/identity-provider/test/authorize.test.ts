import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aPartner,
  authorizeFields,
  aVerifier,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  redirectUri,
  refusalOf,
  refused,
  runDesktop,
} from './running-desktop.ts';
import { record } from './running-identity-provider.ts';

const clock = new TestClock();
let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  const limited = {
    realm: 'limited/desktop',
    clients: [],
    desktop: { partners: [aPartner({ requestsPerSecond: 1 })] },
  };
  running = await runDesktop({ clock, storage, realms: [...desktopRealms(), limited] });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const inOrder = async (): Promise<Fields> =>
  authorizeFields({ launch: await running.launchFor(), challenge: aVerifier().challenge });

/** Invalid values of every field in the specification's table, with their errors. */
const wrong: Record<string, readonly [string, string][]> = {
  client_id: [
    ['nobody', 'unauthorized_client'],
    ['PARTNER', 'unauthorized_client'],
    ['__proto__', 'unauthorized_client'],
  ],
  response_type: [
    ['token', 'unsupported_response_type'],
    ['code id_token', 'unsupported_response_type'],
    ['CODE', 'unsupported_response_type'],
  ],
  redirect_uri: [
    ['https://partner.example/auth', 'invalid_request'],
    [`${redirectUri}&more=1`, 'invalid_request'],
    [redirectUri.toUpperCase(), 'invalid_request'],
    [`${redirectUri}#`, 'invalid_request'],
    ['https://attacker.example/auth?tenant=7', 'invalid_request'],
  ],
  response_mode: [
    ['fragment', 'invalid_request'],
    ['form_post', 'invalid_request'],
  ],
  scope: [
    ['openid admin', 'invalid_scope'],
    ['openid  launch', 'invalid_scope'],
    ['openid patient/*.rs', 'invalid_scope'],
    ['"', 'invalid_scope'],
  ],
  code_challenge: [
    ['A'.repeat(42), 'invalid_request'],
    ['A'.repeat(44), 'invalid_request'],
    [`${'A'.repeat(42)}=`, 'invalid_request'],
    // The unused bits of the last character are set, so no verifier has this challenge.
    [`${'A'.repeat(42)}B`, 'invalid_request'],
    [`${'A'.repeat(42)}+`, 'invalid_request'],
  ],
  code_challenge_method: [
    ['plain', 'invalid_request'],
    ['s256', 'invalid_request'],
  ],
  launch: [['A'.repeat(43), 'invalid_request']],
};
const names = ['state', ...Object.keys(wrong)];

describe('an invalid authorization request', () => {
  const expectRefusal = async (fields: Fields | [string, string][], error: string, launch: string) => {
    const response = await running.postAuthorize(fields);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await refusalOf(response)).toEqual(refused(error));
    const query = new URLSearchParams(fields).toString();
    expect(await refusalOf(await running.getAuthorize(query))).toEqual(refused(error));
    await expect(running.codeFor({}, { launch })).resolves.toHaveProperty('code');
  };

  it.each(names)(
    'without %s is refused without a redirect and leaves the launch identifier usable',
    async (name) => {
      const { [name]: _missing, ...fields } = await inOrder();
      const launch = name === 'launch' ? await running.launchFor() : String(fields.launch);
      await expectRefusal(fields, 'invalid_request', launch);
    },
  );

  it('is answered with hints about the profile `standard`, and about 127.0.0.1 instead of localhost', async () => {
    const { response_mode: _missing, ...fields } = await inOrder();
    const redirect_uri = 'http://localhost:5555/callback';
    const page = await (await running.postAuthorize({ ...fields, redirect_uri })).text();
    expect(page).toContain('response_mode is missing (only clients of the profile standard may omit it)');
    expect(page).toContain('with exactly the same characters (use 127.0.0.1, not localhost)');
    // This application has registered an address on localhost.
    const native = await running.postAuthorize({ ...fields, redirect_uri, client_id: 'partner-native' });
    expect(await native.text()).not.toContain('127.0.0.1');
  });

  it.each([
    ['the slash at its end', (registered: string) => `${registered}/`],
    ['letter case', (registered: string) => registered.toUpperCase().replace('HTTP:', 'http:')],
  ])('says that redirect_uri differs from a registered address only by %s', async (difference, change) => {
    const fields = await inOrder();
    const redirect_uri = change(String(fields.redirect_uri));
    const page = await (await running.postAuthorize({ ...fields, redirect_uri })).text();
    expect(page).toContain(`with exactly the same characters. It differs only by ${difference}`);
  });

  it.each([
    ['prompt', 'login', 'login_required'],
    ['prompt', 'consent login', 'login_required'],
    ['prompt', 'none login', 'invalid_request'],
    ['prompt', 'consent none', 'invalid_request'],
    ['request', 'eyJhbGciOiJub25lIn0.e30.', 'request_not_supported'],
    ['registration', '{}', 'registration_not_supported'],
    ['aud', 'https://evil.example/fhir', 'invalid_request'],
    ['aud', 'issuer/Patient', 'invalid_request'],
    ['aud', 'issuer//', 'invalid_request'],
  ])('with the %s %j is refused with %s, also when it is pushed', async (name, value, error) => {
    const fields = await inOrder();
    const sent = { ...fields, [name]: value.replace('issuer', running.issuer(realm)) };
    const pushed = await running.idp.postForm(`/${realm}/oauth2/v2.0/par`, sent);
    expect(await refusalOf(pushed)).toEqual(refused(error));
    await expectRefusal(sent, error, String(fields.launch));
  });

  it('with a request object is refused for this reason, even if other parameters are only in the object', async () => {
    const { client_id, response_type, launch } = await inOrder();
    const request = 'eyJhbGciOiJub25lIn0.e30.';
    const sent = { client_id, response_type, launch, request } as Fields;
    await expectRefusal(sent, 'request_not_supported', String(launch));
  });

  it.each(names)(
    'with an empty %s is refused without a redirect and leaves the launch identifier usable',
    async (name) => {
      const fields = await inOrder();
      await expectRefusal({ ...fields, [name]: '' }, 'invalid_request', String(fields.launch));
    },
  );

  it.each([...names, 'nonce'])(
    'with two %s parameters is refused without a redirect and leaves the launch identifier usable',
    async (name) => {
      const fields: Fields = { nonce: 'n', ...(await inOrder()) };
      const twice: [string, string][] = [...Object.entries(fields), [name, String(fields[name])]];
      await expectRefusal(twice, 'invalid_request', String(fields.launch));
    },
  );

  it.each(
    Object.entries(wrong).flatMap(([name, values]) => values.map((value) => [name, ...value] as const)),
  )(
    'whose %s is %j is refused with the error %s and leaves the launch identifier usable',
    async (name, value, error) => {
      const fields = await inOrder();
      await expectRefusal({ ...fields, [name]: value }, error, String(fields.launch));
    },
  );

  it('is answered with the names of all invalid parameters, but without their values', async () => {
    const response = await running.postAuthorize({ client_id: 'a-stranger', state: '' });
    const { error_description } = record(await response.json());
    for (const name of names) expect(error_description).toContain(`The parameter ${name} `);
    expect(error_description).not.toContain('a-stranger');
    const event = running.published.findLast(({ type }) => type === 'desktop.launch.refused.v1');
    expect(event?.data).toMatchObject({ step: 'authorize', reason: 'faulty_parameters', realm });
    expect(event?.data).toMatchObject({ paths: expect.arrayContaining(names) });
    expect(JSON.stringify(event)).not.toContain('a-stranger');
  });

  it('whose state is not UTF-8 is refused, because the state could not be returned unchanged', async () => {
    const { state: _state, ...fields } = await inOrder();
    const response = await running.getAuthorize(`${new URLSearchParams(fields).toString()}&state=%FF`);
    expect(await refusalOf(response)).toEqual(refused('invalid_request'));
  });

  it('whose body is not a form, or is too large, is refused', async () => {
    const url = `${running.idp.base}/${realm}/oauth2/v2.0/authorize`;
    const json = await fetch(url, { method: 'POST', body: JSON.stringify(await inOrder()) });
    expect(await refusalOf(json)).toEqual(refused('invalid_request'));
    const large = await running.postAuthorize({ ...(await inOrder()), state: 'x'.repeat(17_000) });
    expect(await refusalOf(large)).toEqual(refused('invalid_request', 413));
  });
});

describe('a valid authorization request', () => {
  const locationOf = async (response: Promise<Response>) => {
    const { status, headers } = await response;
    return { status, location: headers.get('location') };
  };

  it('may be sent by GET', async () => {
    const query = new URLSearchParams(await inOrder()).toString();
    const { status, location } = await locationOf(running.getAuthorize(query));
    expect(status).toBe(302);
    expect(location).toMatch(
      /^https:\/\/partner\.example\/auth\?tenant=7&code=[\w-]{89}&state=a%20state&iss=[^&]+$/,
    );
  });

  it('that is sent by POST is read only from the form, not from the query', async () => {
    const query = new URLSearchParams({ client_id: 'other', state: 'other' }).toString();
    const response = await fetch(`${running.idp.base}/${realm}/oauth2/v2.0/authorize?${query}`, {
      method: 'POST',
      body: new URLSearchParams(await inOrder()),
      redirect: 'manual',
    });
    expect(response.headers.get('location')).toMatch(/&state=a%20state&iss=/);
  });

  it.each(['launch', 'openid profile email offline_access launch resource.read'])(
    'may ask for the scope %s of its partner',
    async (scope) => {
      expect((await running.postAuthorize({ ...(await inOrder()), scope })).status).toBe(302);
    },
  );

  it('may contain unknown parameters, even if they are repeated', async () => {
    const fields: [string, string][] = [...Object.entries(await inOrder()), ['claims', 'a'], ['claims', 'b']];
    expect((await running.postAuthorize(fields)).status).toBe(302);
  });

  it.each([
    ['prompt', 'none'],
    ['prompt', 'consent select_account'],
    ['request', ''],
    ['registration', ''],
    ['aud', ''],
    ['aud', 'issuer'],
    ['aud', 'issuer/'],
  ])('may contain the parameter %s with the value %j', async (name, value) => {
    const sent = { ...(await inOrder()), [name]: value.replace('issuer', running.issuer(realm)) };
    expect((await running.postAuthorize(sent)).status).toBe(302);
  });

  it.each([
    'a b+c%20%2B',
    'é ŷ 🌸',
    '{"a":[1,"&=#?"]}',
    "~!*'();:@&=+$,/?#[]",
    '%00%FF',
    'x'.repeat(2000),
    ' ',
  ])('is answered with a redirect that contains the state %j unchanged', async (state) => {
    for (const ask of [
      async (fields: Fields) => running.postAuthorize(fields),
      async (fields: Fields) => running.getAuthorize(new URLSearchParams(fields).toString()),
    ]) {
      const { location } = await locationOf(ask({ ...(await inOrder()), state }));
      const [, sent = ''] = /&state=([^&]*)&iss=[^&]*$/.exec(location ?? '') ?? [];
      expect(decodeURIComponent(sent)).toBe(state);
      expect(new URL(String(location)).searchParams.get('state')).toBe(state);
    }
  });

  it.each([
    ['partnerapp://auth', /^partnerapp:\/\/auth\?code=[\w-]{89}&state=s&iss=[^&]+$/],
    ['http://127.0.0.1/callback', /^http:\/\/127\.0\.0\.1\/callback\?code=/],
    ['http://127.0.0.1:49152/callback', /^http:\/\/127\.0\.0\.1:49152\/callback\?code=/],
    ['http://localhost:3000/callback', /^http:\/\/localhost:3000\/callback\?code=/],
    ['http://[::1]/callback?a=1', /^http:\/\/\[::1\]\/callback\?a=1&code=/],
    ['http://[::1]:65535/callback?a=1', /^http:\/\/\[::1\]:65535\/callback\?a=1&code=/],
  ])('is answered with a redirect to exactly the redirect URI %s', async (redirect_uri, expected) => {
    const launch = await running.launchFor({ client_id: 'partner-native' });
    const { challenge } = aVerifier();
    const fields = { ...authorizeFields({ launch, challenge }), client_id: 'partner-native', state: 's' };
    const { location } = await locationOf(running.postAuthorize({ ...fields, redirect_uri }));
    expect(location).toMatch(expected);
  });

  it('is refused if Windows would cut the address that opens the application, and leaves the launch identifier usable', async () => {
    const client_id = 'partner-native';
    const launch = await running.launchFor({ client_id });
    const { challenge } = aVerifier();
    const send = (redirect_uri: string, state: string, identifier = launch) =>
      running.postAuthorize({
        ...authorizeFields({ launch: identifier, challenge }),
        client_id,
        redirect_uri,
        state,
      });
    const address = `partnerapp://auth?code=${launch}&state=&iss=${encodeURIComponent(running.issuer(realm))}`;
    const longest = 's'.repeat(2046 - address.length);
    const refusal = await send('partnerapp://auth', `${longest}s`);
    expect(await refusal.clone().text()).toContain('Windows passes at most 2,046 characters');
    expect(await refusalOf(refusal)).toEqual(refused('invalid_request'));
    const { location } = await locationOf(send('partnerapp://auth', longest));
    expect(location).toHaveLength(2046);
    const other = await running.launchFor({ client_id });
    expect((await send('http://127.0.0.1/callback', 's'.repeat(2048), other)).status).toBe(302);
  });

  it.each([
    'partnerapp://auth/',
    'partnerapp://AUTH',
    'http://localhost/callback',
    'http://localhost:3001/callback',
    'http://localhost:3000@attacker.example/callback',
    'http://127.0.0.1:49152/callback/',
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1:49152/callback?a=1',
    'http://127.0.0.1@attacker.example/callback',
    'http://127.0.0.1.attacker.example/callback',
    'http://127.0.0.2/callback',
    'https://127.0.0.1/callback',
    'http://[::1]:4000/callback?a=2',
  ])('becomes invalid with the unregistered redirect URI %s', async (redirect_uri) => {
    const launch = await running.launchFor({ client_id: 'partner-native' });
    const { challenge } = aVerifier();
    const fields = { ...authorizeFields({ launch, challenge }), client_id: 'partner-native' };
    const response = await running.postAuthorize({ ...fields, redirect_uri });
    expect(await refusalOf(response)).toEqual(refused('invalid_request'));
  });

  it('is answered with iss, unless the realm disables this parameter (RFC 9207)', async () => {
    const { location } = await locationOf(running.postAuthorize(await inOrder()));
    expect(new URL(String(location)).searchParams.get('iss')).toBe(running.issuer(realm));
    const launch = await running.launchFor({}, 'south/desktop');
    const fields = authorizeFields({ launch, challenge: aVerifier().challenge });
    const silent = await locationOf(running.postAuthorize(fields, 'south/desktop'));
    expect(new URL(String(silent.location)).searchParams.has('iss')).toBe(false);
  });

  it.each(['/NORTH/Desktop', '/tfp/north/DESKTOP'])(
    'is accepted at %s, which is another spelling of the same realm',
    async (asked) => {
      expect((await running.postAuthorize(await inOrder(), asked.slice(1))).status).toBe(302);
    },
  );

  it('is answered with 400 in a realm without partner applications, and with 404 in an unknown realm', async () => {
    const response = await running.postAuthorize(await inOrder(), 'north');
    const { error_description } = record(await response.clone().json());
    expect(error_description).toBe('This realm does not launch partner applications');
    expect(await refusalOf(response)).toEqual(refused('unauthorized_client'));
    const unknown = await running.postAuthorize(await inOrder(), 'nowhere/desktop');
    expect(await refusalOf(unknown)).toEqual(refused('not_found', 404));
  });
});

describe('HEAD requests, prefetches, previews, images and scripts', () => {
  it('leave the launch identifier usable', async () => {
    const fields = await inOrder();
    const query = new URLSearchParams(fields).toString();
    const head = await fetch(`${running.idp.base}/${realm}/oauth2/v2.0/authorize?${query}`, {
      method: 'HEAD',
    });
    expect(head.status).toBe(405);
    expect(head.headers.get('allow')).toBe('GET, POST');
    for (const headers of [
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'preview' },
      { 'x-moz': 'prefetch' },
      { 'sec-fetch-dest': 'image' },
      { 'sec-fetch-dest': 'script' },
      { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' },
    ]) {
      const response = await running.getAuthorize(query, realm, headers as Fields);
      expect(await refusalOf(response)).toEqual(refused('invalid_request'));
    }
    expect((await running.getAuthorize(query, realm, { 'sec-fetch-dest': 'document' })).status).toBe(302);
  });

  it('may be a form that a script of the partner application posts', async () => {
    const response = await running.postAuthorize(await inOrder(), realm, { 'sec-fetch-dest': 'empty' });
    expect(response.status).toBe(302);
  });
});

describe('the page for a refused authorization request', () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it('begins with the reference for support, and shows no value from the request', async () => {
    const response = await running.postAuthorize({ client_id: '<script>alert(1)</script>' }, realm, {
      accept,
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    const [, content = ''] = (await response.text()).split('<main');
    const [shown = '', technical = ''] = content.split('<details');
    expect(shown).toContain(`<strong class="app-reference">${response.headers.get('x-correlation-id')}<`);
    expect(shown).toContain(
      'Close this window, then open the application again from the system where you started.',
    );
    expect(shown).not.toMatch(/unauthorized_client|The parameter/);
    expect(technical).toContain('unauthorized_client');
    expect(technical).toContain('The parameter launch is missing');
    expect(content).not.toContain('alert');
  });

  it('refers to stylesheets and images that the service serves', async () => {
    const page = await (await running.getAuthorize('', realm, { accept })).text();
    const files = [...page.matchAll(/(?:href|src)="\/idp(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(files).toEqual(expect.arrayContaining(['/assets/nhsuk/nhsuk-frontend.css', '/assets/page.css']));
    const answers = await Promise.all(files.map((path) => fetch(running.idp.base + path)));
    const contents = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status)).toEqual(files.map(() => 200));
    expect(contents).not.toContain('');
  });

  it('advises the user to wait if the status is 429, and is sent with Retry-After', async () => {
    const at = 'limited/desktop';
    const [first, second] = [await running.launchFor({}, at), await running.launchFor({}, at)];
    const fieldsOf = (launch: string) => authorizeFields({ launch, challenge: aVerifier().challenge });
    await running.postAuthorize(fieldsOf(first), at, { accept });
    const limited = await running.postAuthorize(fieldsOf(second), at, { accept });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await limited.text()).toContain('Wait a minute, then open the application again');
    clock.advance({ seconds: 1 });
  });
});

describe('the rate limit of a partner', () => {
  it('causes 429, leaves the launch identifier usable, and does not count invalid launch identifiers', async () => {
    const at = 'limited/desktop';
    const fieldsOf = (launch: string) => authorizeFields({ launch, challenge: aVerifier().challenge });
    for (let guess = 0; guess < 5; guess += 1) {
      const response = await running.postAuthorize(fieldsOf('A'.repeat(43)), at);
      expect(await refusalOf(response)).toEqual(refused('invalid_request'));
    }
    const [first, second] = [await running.launchFor({}, at), await running.launchFor({}, at)];
    expect((await running.postAuthorize(fieldsOf(first), at)).status).toBe(302);
    const limited = await running.postAuthorize(fieldsOf(second), at);
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).toBe('1');
    clock.advance({ seconds: 1 });
    expect((await running.postAuthorize(fieldsOf(second), at)).status).toBe(302);
    clock.advance({ seconds: 1 });
  });

  it('is checked together with max_age, so that the launch is read only once', async () => {
    const at = 'limited/desktop';
    const launch = await running.launchFor({ auth_time: clock.now() / 1000 }, at);
    const fields = { ...authorizeFields({ launch, challenge: aVerifier().challenge }), max_age: '900' };
    const { tickets } = running;
    const find = tickets.find.bind(tickets);
    let readings = 0;
    tickets.find = (...launchAndKind) => {
      readings += 1;
      return find(...launchAndKind);
    };
    expect((await running.postAuthorize(fields, at)).status).toBe(302);
    tickets.find = find;
    expect(readings).toBe(1);
  });
});
