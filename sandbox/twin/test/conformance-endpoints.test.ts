import { type FaultName, faultNames } from '@clinical-launch/conformance/exchange';
import { createPmsClient } from '@clinical-launch/pms-client';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { xpathOf } from '@clinical-launch/testing/xml';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTwin, type Twin } from '../src/twin.ts';
import { callbackSecretOf } from '../src/vendor-client.ts';
import { startCallbackReceiver } from './callback-receiver.ts';
import { changeRun, findRun, post, startRun } from './played-run.ts';
import { type Behaviour, createPracticeSystem } from './practice-system.ts';

const vendor = 'my-pms';
/** Longer than any test, so that a slow request is still waiting when another request is answered. */
const slowMs = 3_600_000;
const { logger } = createRecordedLogger();
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
let twin: Twin;
beforeAll(async () => {
  receiver = await startCallbackReceiver();
  twin = await startTwin({
    port: 0,
    host: '127.0.0.1',
    logger,
    environment: {},
    slowMs,
    client: { clientId: vendor, protocol: 'pms', callbackUrl: receiver.url },
  });
});
afterAll(async () => {
  await twin.stop();
  await receiver.stop();
});

const systemOf = (clientId: string, habits: Partial<Behaviour> = {}) =>
  createPracticeSystem({ url: twin.url, clientId }, habits);

describe('a conformance run', () => {
  it('is not changed by requests of another client, even if they name the client of the run', async () => {
    const { run } = await startRun({ url: twin.url, client: vendor });
    await systemOf(vendor).launch('launch');
    const before = await findRun(twin.url, run);
    expect(before.step?.id).toBe('second-launch');

    await systemOf('pms-other', { referer: 'http://pms.example/9434765919' }).launch('launch');
    const claims = Buffer.from(JSON.stringify({ client_id: vendor })).toString('base64url');
    const forged = await post(`${twin.url}/AccessApi/RequestLaunchUrl`, aServiceRequest(), {
      Authorization: `Bearer eyJhbGciOiJub25lIn0.${claims}.`,
    });
    const named = await fetch(`${twin.url}/secureLaunch?client_id=${vendor}&client_secret=x`);
    const authorize = `${twin.url}/idp/demo/desktop/oauth2/v2.0/authorize?client_id=${vendor}&access_token=x`;
    const Referer = `${twin.url}/secureLaunch?launchToken=x`;
    expect((await fetch(authorize, { headers: { Referer } })).status).toBe(400);
    const otherMessage = await post(`${twin.url}/developers/callbacks/pms-other`, {});
    expect([forged.status, named.status, otherMessage.status]).toEqual([401, 401, 401]);
    expect(await findRun(twin.url, run)).toEqual(before);
  });

  it('records the launches at the base address of its client, whose launch URLs begin with this address', async () => {
    const base = `${twin.url}/developers/api/${vendor}`;
    const { run } = await startRun({ url: twin.url, client: vendor });
    const { url }: { readonly url: string } = JSON.parse(
      await (await (await createLaunching(vendor, base))()).text(),
    );
    expect(url.startsWith(`${base}/secureLaunch?launchToken=`)).toBe(true);
    await createPracticeSystem({ url: base, clientId: vendor }).launch('launch');
    expect((await findRun(twin.url, run)).step?.number).toBe(2);
  });

  it('records the launches that name it, and otherwise those of the newest run that has not finished', async () => {
    const first = await startRun({ url: twin.url, client: vendor });
    const second = await startRun({ url: twin.url, client: vendor });
    const stepsOf = () =>
      Promise.all([first, second].map(async ({ run }) => (await findRun(twin.url, run)).step?.number));
    await systemOf(vendor, { run: first.run }).launch('launch');
    expect(await stepsOf()).toEqual([2, 1]);
    await systemOf(vendor).launch('launch');
    expect(await stepsOf()).toEqual([2, 2]);
    await systemOf('pms-other', { run: first.run }).launch('launch');
    expect(await stepsOf()).toEqual([2, 2]);
    await changeRun(twin.url, second.run, 'finish');
    await systemOf(vendor).launch('launch');
    expect(await stepsOf()).toEqual([3, undefined]);
  });

  it('of another client records nothing of it, and cannot be read without its id', async () => {
    const { run } = await startRun({ url: twin.url, client: 'pms-demo' });
    await systemOf('pms-other').launch('launch');
    const { launches, requirements } = await changeRun(twin.url, run, 'finish');
    expect(launches).toEqual([]);
    expect(new Set(requirements.map(({ result }) => result))).toEqual(new Set(['unseen', 'unattested']));
    for (const path of [crypto.randomUUID(), `${run}?client=pms-other`])
      expect((await fetch(`${twin.url}/developers/runs/${path}`)).status).toBe(404);
    expect((await post(`${twin.url}/developers/runs?client=unknown`, {})).status).toBe(404);
  });

  it('reports no secret and no patient data, as JSON, JUnit or a page', async () => {
    const used: string[] = [callbackSecretOf(vendor), `${vendor}-secret`, 'whsec_'];
    const pms = createPmsClient({
      baseUrl: twin.url,
      tokenUrl: `${twin.url}/idp/demo/oauth2/v2.0/token`,
      clientId: vendor,
      clientSecret: `${vendor}-secret`,
      scope: 'api://clinical-launch/.default',
      async fetch(...request) {
        const answer = await fetch(...request);
        const { access_token: token }: { readonly access_token?: string } = JSON.parse(
          await answer.clone().text(),
        );
        if (token !== undefined) used.push(token);
        return answer;
      },
    });
    const patient = aServiceRequest();
    used.push('9434765919', 'Whitfield', '1958-02-28', 'Margaret');
    for (const value of used.slice(-4)) expect(JSON.stringify(patient)).toContain(value);

    const { run } = await startRun({ url: twin.url, client: vendor });
    const { url } = await pms.requestLaunch(patient);
    used.push(...new URL(url).searchParams.values());
    await fetch(`${url}&access_token=${used.at(-1)}`, { headers: { Referer: `${url}&nhs=9434765919` } });
    let report = await findRun(twin.url, run);
    while (report.step !== undefined) report = await changeRun(twin.url, run, 'skip');
    expect(report.requirements.find(({ id }) => id === 'pms.private-addresses')?.result).toBe('failed');

    expect(used).toHaveLength(10);
    for (const type of ['application/json', 'application/xml', 'text/html']) {
      const answer = await fetch(`${twin.url}/developers/runs/${run}`, { headers: { Accept: type } });
      expect(answer.headers.get('content-type')).toContain(type);
      const text = await answer.text();
      expect(text).toContain('pms.private-addresses');
      expect(used.filter((value) => text.toLowerCase().includes(value.toLowerCase()))).toEqual([]);
    }
  });

  it('writes JUnit XML with a test case for each requirement, and counts its failures', async () => {
    const { run } = await startRun({ url: twin.url, client: 'pms-demo' });
    const { requirements } = await changeRun(twin.url, run, 'finish');
    const answer = await fetch(`${twin.url}/developers/runs/${run}`, {
      headers: { Accept: 'application/xml' },
    });
    const junit = await answer.text();
    const numbers = ['tests', 'failures', 'skipped'].map((name) => `/testsuites/testsuite/@${name}`);
    const counted = [
      'count(//testcase[@classname and @name])',
      'count(//testcase/failure[@message])',
      'count(//testcase/skipped[@message])',
    ];
    const read = (expressions: readonly string[]) =>
      Promise.all(expressions.map(async (one) => Number(await xpathOf(junit, `string(${one})`))));
    const expected = [requirements.length, requirements.length, 0];
    expect([await read(numbers), await read(counted)]).toEqual([expected, expected]);
    expect(await xpathOf(junit, 'string(/testsuites/testsuite/@name)')).toBe('pms pms-demo');
  });
});

const fault = { fault: '503' };

describe('the endpoints of the twin', () => {
  it.each([
    ['/developers/runs', { 'pms.secrets-stored': 1 }],
    ['/developers/runs', { 'pms.secrets-stored': 'x'.repeat(201) }],
    ['/developers/faults', { ...fault, other: 1 }],
    ['/developers/faults', { ...fault, fault: '404' }],
    ['/developers/faults', { ...fault, times: 0 }],
    ['/developers/faults', { ...fault, times: 1001 }],
  ])('%s refuses %j with 400', async (path, body) => {
    expect((await post(twin.url + path, body)).status).toBe(400);
  });

  it.each([
    ['/developers/runs', {}, 201],
    ['/developers/faults', { ...fault, endpoint: 'revoke' }, 200],
    ['/keys', {}, 204],
    [`/developers/callbacks/${vendor}`, {}, 401],
  ])(
    '%s refuses requests of other web pages, and media types other than its own',
    async (path, body, status) => {
      for (const origin of ['https://evil.example', 'null'])
        expect((await post(twin.url + path, body, { Origin: origin })).status).toBe(403);
      expect((await post(twin.url + path, body, { Origin: twin.url })).status).toBe(status);
      const text = await post(twin.url + path, body, { 'Content-Type': 'text/plain' });
      expect(text.status).toBe(status === 401 ? 401 : 415);
    },
  );

  it('list the requests of a client, wherever it sent them, without secrets', async () => {
    await systemOf('pms-other').launch('launch');
    const answer = await fetch(`${twin.url}/developers/requests?client=pms-other`);
    const text = await answer.text();
    const { requests }: { readonly requests: readonly { readonly line: string }[] } = JSON.parse(text);
    expect(requests.slice(0, 2).map(({ line }) => line)).toEqual([
      'GET /secureLaunch',
      'POST /AccessApi/RequestLaunchUrl',
    ]);
    expect(['Whitfield', '9434765919', 'pms-other-secret'].filter((one) => text.includes(one))).toEqual([]);
  });

  it('show the callbacks of the vendor’s client, and send another', async () => {
    receiver.answerWith(() => 202);
    const { status } = await post(`${twin.url}/developers/callbacks`, { kind: 'valid' });
    const { address, callbacks }: { readonly address: string; readonly callbacks: readonly unknown[] } =
      JSON.parse(await (await fetch(`${twin.url}/developers/callbacks`)).text());
    receiver.answerWith(() => 503);
    expect([status, address, callbacks[0]]).toEqual([
      200,
      receiver.url,
      expect.objectContaining({ kind: 'valid', attempts: [expect.objectContaining({ result: 202 })] }),
    ]);
  });
});

const tokenOf = (
  clientId: string,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
) =>
  fetch(`${twin.url}/idp/demo/oauth2/v2.0/token`, {
    method: 'POST',
    headers,
    signal,
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: `${clientId}-secret`,
      scope: 'api://clinical-launch/.default',
    }),
  });

/** Requests an access token for a client. Returns a function that requests launch URLs with the token. */
async function createLaunching(clientId: string, base = twin.url) {
  const { access_token: token }: { readonly access_token: string } = JSON.parse(
    await (await tokenOf(clientId)).text(),
  );
  const pair = 'A'.repeat(43);
  return (originatingId: string = crypto.randomUUID()) =>
    post(`${base}/AccessApi/RequestLaunchUrl`, aServiceRequest({ originatingId }), {
      Authorization: `Bearer ${token}`,
      'Code-Challenge': pair,
    });
}

describe('a fault on demand', () => {
  const answered = faultNames.filter((name) => name !== 'slow' && name !== 'cut');
  const arm = async (name: FaultName, endpoint: string) =>
    expect((await post(`${twin.url}/developers/faults`, { fault: name, endpoint })).status).toBe(200);

  it.each(answered)(
    '%s affects only the next request of the chosen client to the chosen endpoint',
    async (name) => {
      const [launch, launchOther] = [await createLaunching(vendor), await createLaunching('pms-other')];
      await arm(name, 'launch-url');
      expect([(await tokenOf(vendor)).status, (await launchOther()).status]).toEqual([200, 200]);
      const broken = await launch();
      expect([broken.status, (await launch()).status]).toEqual([Number(name), 200]);
      expect(broken.headers.get('retry-after')).toBe(['429', '503'].includes(name) ? '2' : null);
      expect(broken.headers.get('x-correlation-id')).toMatch(/^[\da-f-]{36}$/);
      await arm(name, 'token');
      const refused = await tokenOf(vendor);
      expect([refused.status, (await launch()).status]).toEqual([Number(name), 200]);
      expect(JSON.parse(await refused.text())).toMatchObject({ error: expect.any(String) });
    },
  );

  it('with the name slow delays a request, while other requests are answered', async () => {
    await arm('slow', 'token');
    const leave = new AbortController();
    const waiting = tokenOf(vendor, {}, leave.signal).catch(() => 'left');
    await expect(Promise.race([waiting, tokenOf('pms-other')])).resolves.toMatchObject({ status: 200 });
    leave.abort();
    expect(await waiting).toBe('left');
  });

  it('with the name cut closes the connection before the platform receives the request', async () => {
    const launch = await createLaunching(vendor);
    await arm('cut', 'launch-url');
    const originatingId = crypto.randomUUID();
    await expect(launch(originatingId)).rejects.toThrow('fetch failed');
    expect((await launch(originatingId)).status).toBe(200);
  });

  it('applies to the request whose header names it', async () => {
    const named = await tokenOf(vendor, { 'Clinical-Launch-Fault': '503' });
    const unknown = await tokenOf(vendor, { 'Clinical-Launch-Fault': '418' });
    expect([named.status, unknown.status, (await tokenOf(vendor)).status]).toEqual([503, 200, 200]);
  });

  it('never applies to a request that only states the client', async () => {
    const grant = { grant_type: 'client_credentials', scope: 'api://clinical-launch/.default' };
    await arm('500', 'token');
    const body = new URLSearchParams({ client_id: vendor, client_secret: 'wrong', ...grant });
    const refused = await fetch(`${twin.url}/idp/demo/oauth2/v2.0/token`, { method: 'POST', body });
    expect([refused.status, (await tokenOf(vendor)).status]).toEqual([401, 500]);
  });

  it('applies as often as requested, to any endpoint if none is named', async () => {
    const launch = await createLaunching(vendor);
    await post(`${twin.url}/developers/faults`, { fault: '500', times: 2 });
    const answers = [await launch(), await tokenOf(vendor), await launch()];
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 200]);
  });
});
