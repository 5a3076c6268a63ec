import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { partnerProtocol } from '@clinical-launch/conformance/partner';
import type { RunReport } from '@clinical-launch/conformance/run';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { until } from '@clinical-launch/testing/until';
import { startTwin, type Twin } from '@clinical-launch/twin/twin';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Behaviour, createTestPartner, type TestPartner } from './conformance-partner.ts';

const { logger } = createRecordedLogger();
const clientId = 'partner-under-test';
const redirectUri = 'https://partner.example/callback';

let partner: TestPartner;
let backend: Server;
let twin: Twin;
beforeAll(async () => {
  backend = createServer(async (request, response) => {
    const token = new URLSearchParams(await text(request)).get('logout_token') ?? '';
    response.writeHead(await partner.logOut(token)).end();
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const { port } = backend.address() as AddressInfo;
  twin = await startTwin({
    port: 0,
    host: '127.0.0.1',
    logger,
    environment: {},
    client: {
      protocol: 'partner',
      clientId,
      redirectUri,
      launchUrl: 'https://partner.example/launch',
      callbackUrl: `http://127.0.0.1:${port}/logout`,
    },
  });
});
afterAll(async () => {
  await twin.stop();
  backend.close();
});

async function send(path: string, body?: object): Promise<RunReport> {
  const response = await fetch(twin.url + path, {
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const report: RunReport = JSON.parse(await response.text());
  return report;
}

type StepReport = NonNullable<RunReport['step']>;

/** Does what a step says. Ignores the error of a partner that refuses something. */
async function follow({ id, action, launchUrl = '' }: StepReport, path: string): Promise<void> {
  if (action === 'wait') return until(async () => (await send(path)).step?.id !== id);
  if (id === 'last-launch') await partner.readAgain();
  await partner
    .open(launchUrl)
    .then(async (session) => {
      if (id === 'refresh') await partner.refreshTwice(session);
    })
    .catch(() => undefined);
}

/**
 * Runs all steps with a partner, except the steps in `skipped`. If a step is incomplete after its launch,
 * skips the step.
 */
async function judge(wrong: Partial<Behaviour> = {}, skipped: readonly string[] = []) {
  partner = createTestPartner({ baseUrl: twin.url, clientId, redirectUri }, wrong);
  const { run } = await send('/developers/runs', {
    'partner.errors-shown': 'A Tester',
    'partner.tokens-private': 'A Tester',
  });
  const path = `/developers/runs/${run}`;
  for (let { step } = await send(path); step !== undefined; { step } = await send(path)) {
    const { id } = step;
    if (!skipped.includes(id)) await follow(step, path);
    if ((await send(path)).step?.id === id) await send(path, { do: 'skip' });
  }
  return send(path);
}

const resultsOf = ({ requirements }: Pick<RunReport, 'requirements'>) =>
  Object.fromEntries(requirements.map(({ id, result }) => [id, result]));

const passed = Object.fromEntries(
  partnerProtocol.requirements.map(({ id, judge: judges }) => [id, judges ? 'passed' : 'attested']),
);

/** Each step in which a partner waits, with the requirement that only this step shows. */
const slow = [
  { step: 'refused-429', id: 'partner.limited-429' },
  { step: 'refused-503', id: 'partner.unavailable-503' },
];

describe('a conformance run of a partner application', () => {
  it('records a launch that it created, although a newer run of the client is running', async () => {
    partner = createTestPartner({ baseUrl: twin.url, clientId, redirectUri });
    const start = () => send('/developers/runs', {});
    const [first, second] = [await start(), await start()];
    await partner.open(first.step?.launchUrl ?? '');
    const steps = [first, second].map(async ({ run }) => (await send(`/developers/runs/${run}`)).step?.id);
    expect(await Promise.all(steps)).toEqual(['refresh', 'launch']);
  });

  it.each([
    ['sends its authorization requests through the browser', { pushes: false }],
    ['pushes its authorization requests', { pushes: true }],
  ])('passes a partner on openid-client that %s', async (_does, behaviour) => {
    const { requirements } = await judge(behaviour);
    expect(requirements.filter(({ result }) => result === 'failed')).toEqual([]);
    expect(resultsOf({ requirements })).toEqual(passed);
  });

  const always = 'x'.repeat(43);
  const withParameter = (address: URL, name: string, value: string) => {
    const changed = new URL(address);
    changed.searchParams.set(name, value);
    return changed;
  };

  it.each<[does: string, id: string, wrong: Partial<Behaviour>]>([
    ['sends one state in all launches', 'state-fresh', { newState: () => always }],
    ['sends one challenge in all launches', 'challenge-fresh', { newVerifier: () => always }],
    ['sends a launch identifier twice', 'launch-once', { launchesTwice: true }],
    ['opens a launch URL of another issuer', 'launch-issuer-checked', { checksLaunchIssuer: false }],
    [
      'accepts every state',
      'state-checked',
      { answerFor: (answer, { state }) => withParameter(answer, 'state', state) },
    ],
    [
      'accepts every iss',
      'issuer-checked',
      { answerFor: (answer, { issuer }) => withParameter(answer, 'iss', issuer) },
    ],
    ['sends a code again after invalid_grant', 'code-once', { exchangesTwice: true }],
    ['never fetches the keys again', 'new-key', { storesKeys: true }],
    [
      'ignores a wrong signature',
      'signature-checked',
      { isIgnored: ({ cause }) => /signature verification failed/.test(String(cause)) },
    ],
    ['does not check at_hash', 'token-hash-checked', { checksHash: false }],
    ['sends its first refresh token again', 'refresh-rotated', { tokenToRefresh: ({ first }) => first }],
    ['refreshes after each 401', 'refused-401', { maxRefreshes: 3 }],
    ['does not wait after 429', 'limited-429', { waitsAfter: (status) => status !== 429 }],
    ['does not wait after 503', 'unavailable-503', { waitsAfter: (status) => status !== 503 }],
    ['accepts a forged logout token', 'logout-forged', { acceptsForgery: true }],
    ['does not end a session', 'logout-honoured', { endsSessions: false }],
    [
      'sends the name of the patient in a query',
      'private-addresses',
      { resource: ({ surname = '' }) => `/resource/patient?name=${encodeURIComponent(surname)}` },
    ],
  ])('fails a partner that %s in the requirement partner.%s alone', async (_does, name, wrong) => {
    const id = `partner.${name}`;
    const skipped = slow.filter((one) => one.id !== id);
    const report = await judge(
      wrong,
      skipped.map(({ step }) => step),
    );
    const unseen = Object.fromEntries(skipped.map((one) => [one.id, 'unseen']));
    expect(resultsOf(report)).toEqual({ ...passed, ...unseen, [id]: 'failed' });
  });
});
