import { verifyStatement } from '@clinical-launch/conformance/statement';
import { parseEd25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { createPmsClient } from '@clinical-launch/pms-client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPortal, syntheticRequest } from './running-portal.ts';

type Report = {
  readonly state: string;
  readonly step?: { readonly id: string };
  readonly requirements: readonly { readonly id: string; readonly result: string }[];
};

let portal: Awaited<ReturnType<typeof startPortal>>;
let asA: Awaited<ReturnType<typeof portal.signIn>>;
let asB: typeof asA;
beforeAll(async () => {
  portal = await startPortal();
  [asA, asB] = [await portal.signIn('vendor-a'), await portal.signIn('vendor-b')];
});
afterAll(() => portal.stop());

const post = (visit: typeof asA, path: string, fields: Readonly<Record<string, string>> = {}) =>
  visit(path, { method: 'POST', body: new URLSearchParams(fields) });

const startRun = async (fields?: Readonly<Record<string, string>>) => {
  const answer = await post(asA, '/developers/runs', fields);
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
};

const reportOf = async (run: string): Promise<Report> =>
  JSON.parse(await (await asA(run, { headers: { Accept: 'application/json' } })).text());

const resultOf = async (run: string, id: string) =>
  (await reportOf(run)).requirements.find((one) => one.id === id)?.result;

const launch = async () => {
  const baseUrl = `${portal.url}/developers/api/vendor-a`;
  const client = createPmsClient({
    baseUrl,
    tokenUrl: `${baseUrl}/idp/demo/oauth2/v2.0/token`,
    clientId: 'vendor-a',
    clientSecret: 'vendor-a',
    scope: 'api://clinical-launch/.default',
  });
  const { url } = await client.requestLaunch(syntheticRequest());
  expect((await fetch(url)).status).toBe(200);
};

describe('a conformance run in the portal', () => {
  it('judges the requests that arrive at the address of its client', async () => {
    const run = await startRun();
    const { step } = await reportOf(run);
    await launch();
    expect((await reportOf(run)).step?.id).not.toBe(step?.id);
    expect(await resultOf(run, 'pms.verifier-appended')).toBe('passed');
    expect(await (await asA(run)).text()).toContain('Step 2 of');
  });

  it('does not judge the requests of a stranger', async () => {
    const run = await startRun();
    const base = `${portal.url}/developers/api/vendor-a`;
    await fetch(`${base}/AccessApi/RequestLaunchUrl`, { method: 'POST', body: '{}' });
    await fetch(`${base}/secureLaunch?launchToken=${'a'.repeat(43)}&codeVerifier=b`);
    const idp = `${base}/idp/demo/desktop/oauth2/v2.0`;
    await fetch(`${idp}/authorize?client_id=vendor-a&access_token=x`);
    const Referer = `${base}/secureLaunch?launchToken=x`;
    await fetch(`${idp}/authorize?client_id=vendor-a`, { headers: { Referer } });
    const large = { client_id: 'vendor-a', x: 'x'.repeat(1_900_000) };
    for (let count = 0; count < 20; count += 1)
      await fetch(`${idp}/par`, { method: 'POST', body: new URLSearchParams(large) });
    expect((await reportOf(run)).state).toBe('running');
    await launch();
    expect(await resultOf(run, 'pms.challenge-form')).toBe('passed');
    expect(await resultOf(run, 'pms.verifier-appended')).toBe('passed');
    expect(await resultOf(run, 'pms.private-addresses')).toBe('passed');
  });

  it('records who attests a requirement that requests cannot prove', async () => {
    const run = await startRun({ 'pms.secrets-stored': 'Ada <b>Okonkwo</b>' });
    expect(await resultOf(run, 'pms.secrets-stored')).toBe('attested');
    expect(await (await asA(run)).text()).toContain('Ada &lt;b&gt;Okonkwo&lt;/b&gt;');
  });

  it('continues or finishes when the developer requests it', async () => {
    const run = await startRun();
    const { step } = await reportOf(run);
    expect((await post(asA, run, { do: 'skip' })).status).toBe(303);
    expect((await reportOf(run)).step?.id).not.toBe(step?.id);
    await post(asA, run, { do: 'finish' });
    expect((await reportOf(run)).state).toBe('finished');
    const page = await (await asA(run)).text();
    expect(page).toMatch(/<strong>\d+<\/strong> not seen, <strong>\d+<\/strong> not attested/);
    const [, guide = ''] = /<a href="(\/developers\/guides\/[^"#]+)#/.exec(page) ?? [];
    expect((await asA(guide)).status).toBe(200);
    expect((await post(asA, run, { do: 'delete' })).status).toBe(400);
  });

  it('is invisible to another client', async () => {
    const run = await startRun();
    await post(asA, run, { do: 'finish' });
    const answers = [await asB(run), await asB(`${run}/statement`), await post(asB, run, { do: 'skip' })];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(await (await asB('/developers/runs')).text()).not.toContain(run);
  });

  it('is listed for its client, and reported as JUnit XML', async () => {
    const run = await startRun();
    expect(await (await asA('/developers/runs')).text()).toContain(run);
    const xml = await asA(run, { headers: { Accept: 'application/xml' } });
    expect(await xml.text()).toContain('<testsuite name="pms vendor-a"');
  });

  it('is signed with a key that another start of the demo does not have', async () => {
    const other = await startPortal();
    const keysOf = async (url: string): Promise<{ readonly keys: readonly unknown[] }> =>
      JSON.parse(await (await fetch(`${url}/developers/statement-keys`)).text());
    const [one, another] = [await keysOf(portal.url), await keysOf(other.url)];
    await other.stop();
    expect(one.keys).toHaveLength(1);
    expect(another.keys).not.toEqual(one.keys);
  });

  it('is signed when it has finished, with a key that the portal publishes', async () => {
    const run = await startRun();
    expect((await asA(`${run}/statement`)).status).toBe(404);
    await launch();
    await post(asA, run, { do: 'finish' });
    const signed = await (await asA(`${run}/statement`)).text();
    const published = await (await fetch(`${portal.url}/developers/statement-keys`)).text();
    expect(published).not.toContain('"d"');
    const statement = await verifyStatement(signed.trim(), {
      keys: parseEd25519Keys(published),
      issuer: portal.url,
    });
    expect(statement).toMatchObject({
      client: 'vendor-a',
      protocol: 'pms',
      launches: 1,
      isConformant: false,
    });
  });
});
