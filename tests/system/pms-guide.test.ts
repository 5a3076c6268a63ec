import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root } from './run-command.ts';
import { startPlatformForTest } from './running-platform.ts';

const guide = readFileSync(`${root}docs/guides/pms.md`, 'utf8');
const minimal = JSON.stringify(JSON.parse(readFileSync(`${root}docs/examples/minimal.json`, 'utf8')));
const [, section = ''] = guide.split('These are the twenty most frequent mistakes:\n\n');
const rows = (section.split('\n\n')[0] ?? '').split('\n').slice(2);

const verifier = randomBytes(64).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const credentials = 'grant_type=client_credentials&client_id=pms-demo&client_secret=';
const scope = '&scope=api%3A%2F%2Fclinical-launch%2F.default';

/** Returns the minimal payload with a new identifier and one replacement in its text. */
const payload = (from = '', to = ''): string => {
  if (!minimal.includes(from)) throw new Error(`The payload has no ${from}`);
  return minimal.replace('PMS-2026-000471', randomUUID()).replace(from, to);
};

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let token: string;
let other: string;
beforeAll(async () => {
  platform = await startPlatformForTest({ environment: { REFUSALS_PER_ADDRESS: '0' } });
  token = await platform.tokenOf('pms-demo');
  other = await platform.tokenOf('pms-noscope');
});
afterAll(() => platform.stop());

const post = (path: string, body: string, headers: Record<string, string>) =>
  fetch(platform.url + path, { method: 'POST', body, headers });
const tokenRequest = (body: string, headers = form) => post('/idp/demo/oauth2/v2.0/token', body, headers);
type LaunchRequest = {
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly path?: string;
};
const request = ({ body = payload(), headers = {}, path = '/AccessApi/RequestLaunchUrl' }: LaunchRequest) =>
  post(path, body, {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    'Code-Challenge': challenge,
    ...headers,
  });

async function launchUrl(): Promise<string> {
  const answer = await request({});
  const { url } = (await answer.json()) as { readonly url: string };
  return url;
}

async function twice<T>(call: () => Promise<T>): Promise<T> {
  await call();
  return call();
}

/** For each row of the table of mistakes in the PMS guide, a function that makes the mistake. */
const mistakes: readonly (() => Promise<Response>)[] = [
  () => tokenRequest(`${credentials}wrong${scope}`),
  () => tokenRequest(`${credentials}pms-demo-secret&scope=ocs-launch.write`),
  () => tokenRequest('{}', { 'Content-Type': 'application/json' }),
  () => request({ headers: { Authorization: 'Basic eDp5' } }),
  () => request({ headers: { Authorization: `Bearer ${other}` } }),
  () => request({ headers: { 'Code-Challenge': '' } }),
  () => request({ headers: { 'Code-Challenge': `${challenge}=` } }),
  () => request({ headers: { 'Content-Type': 'text/plain' } }),
  () => request({ path: '/accessapi/requestlaunchurl' }),
  () => request({ body: '{"resourceType": "ServiceRequest",}' }),
  () => request({ body: payload('"OrderTest"', '"orderTest"') }),
  () => request({ body: payload('[{"reference":"#laboratory"}]', '{"reference":"#laboratory"}') }),
  () =>
    request({
      body: payload('"use":"usual","family":"Whitfield"', '"use":"official","family":"Whitfield"'),
    }),
  () => request({ body: payload('1958-02-28', '28/02/1958') }),
  () => request({ body: payload('2026-03-02T09:30:00Z', '2026-03-02T09:30:00') }),
  () => request({ body: payload('"#patient"', '"Patient/1"') }),
  () => request({ body: payload('"#laboratory"', '"#missing"') }),
  () => {
    const body = payload();
    return twice(() => request({ body }));
  },
  async () => fetch(`${await launchUrl()}&code_verifier=${verifier}`),
  async () => fetch(`${await launchUrl()}&codeVerifier=${'x'.repeat(43)}`),
  async () => {
    const url = `${await launchUrl()}&codeVerifier=${verifier}`;
    return twice(() => fetch(url));
  },
];

describe('the table of mistakes in the PMS guide', () => {
  it('has twenty-one rows', () => {
    expect([rows.length, mistakes.length]).toEqual([21, 21]);
  });

  it.each(rows.map((row, index) => [row.split('|')[1]?.trim() ?? '', row, index] as const))(
    'states the actual answer to: %s',
    async (_mistake, row, index) => {
      const answer = await mistakes[index]?.();
      if (answer === undefined) throw new Error('No function makes this mistake');
      const [, promised = ''] = /\| [^|]* \| (.*) \|$/.exec(row) ?? [];
      expect(promised).toMatch(new RegExp(`\\b${answer.status}\\b`));
      const [challenged, reason] = ['www-authenticate', 'launch-refusal'].map((name) =>
        answer.headers.get(name),
      );
      const said = `${challenged ?? reason ?? ''} ${await answer.text()}`;
      const [, sentence = ''] =
        /: ((?:must|is|The|Send|Client|the Auth|insufficient|\w+(?=[.,]))[^…]*?)(?:, …|, with line.*|[.,] .*)?$/.exec(
          promised,
        ) ?? [];
      expect(said.replaceAll('\\"', '"')).toContain(sentence);
      expect(sentence !== '' || promised.includes('without a body')).toBe(true);
    },
  );
});
