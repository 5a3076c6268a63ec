import { pmsProtocol } from '@clinical-launch/conformance/pms';
import type { RunReport } from '@clinical-launch/conformance/run';
import {
  type CallbackFault,
  CallbackRefused,
  createPkcePair,
  createPmsClient,
  LaunchRefused,
  type PkcePair,
  verifyCallback,
} from '@clinical-launch/pms-client';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { orderTests } from '@clinical-launch/simulators/play/order-tests';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTwin, type Twin } from '../src/twin.ts';
import { callbackSecretOf, writeRegistry } from '../src/vendor-client.ts';
import { type AnswerCallback, startCallbackReceiver } from './callback-receiver.ts';
import { changeRun, playRun, resultsOf, startRun } from './played-run.ts';
import { type Behaviour, createPracticeSystem, type PracticeAction } from './practice-system.ts';

type Wrong = readonly [what: string, requirement: string, habits: () => Partial<Behaviour>];

/** Returns a function whose first call calls `first`, and whose later calls call `next`. */
const firstly = <Arguments extends readonly unknown[], Value>(
  first: (...args: Arguments) => Value,
  next: (...args: Arguments) => Value,
) => {
  let isFirst = true;
  return (...args: Arguments) => {
    const chosen = isFirst ? first : next;
    isFirst = false;
    return chosen(...args);
  };
};

/** Returns the client id of the wrong client with this description. */
const clientOf = (what: string) => what.replaceAll(' ', '-');
const newIdentifier = () => crypto.randomUUID();
const append = (url: string, { codeVerifier }: PkcePair) => `${url}&codeVerifier=${codeVerifier}`;
const inHex = ({ codeVerifier, codeChallenge }: PkcePair): PkcePair => ({
  codeVerifier,
  codeChallenge: Buffer.from(codeChallenge, 'base64url').toString('hex'),
});

const wrong: readonly Wrong[] = [
  ['requests a token for each launch', 'pms.token-reused', () => ({ keepsToken: false })],
  [
    'sends the challenge in hex',
    'pms.challenge-form',
    () => ({ createPair: firstly(() => inHex(createPkcePair()), createPkcePair) }),
  ],
  [
    'reuses the challenge',
    'pms.challenge-fresh',
    () => {
      const pair = createPkcePair();
      return { createPair: () => pair };
    },
  ],
  [
    'reuses an identifier for a new order',
    'pms.identifier-new',
    () => {
      const repeated = newIdentifier();
      let launches = 0;
      return {
        identifierFor(action, opened) {
          launches += 1;
          if (launches <= 2) return repeated;
          return (action === 'amend' && opened[0]) || newIdentifier();
        },
      };
    },
  ],
  ['amends with a new identifier', 'pms.identifier-kept', () => ({ identifierFor: newIdentifier })],
  [
    'appends another parameter',
    'pms.verifier-appended',
    () => ({ addressFor: (url, pair) => `${append(url, pair)}&user=1` }),
  ],
  [
    'puts the verifier first',
    'pms.verifier-appended',
    () => ({
      addressFor: (url, { codeVerifier }) => url.replace('?', `?codeVerifier=${codeVerifier}&`),
    }),
  ],
  [
    'appends another verifier',
    'pms.verifier-appended',
    () => ({ addressFor: firstly((url) => append(url, createPkcePair()), append) }),
  ],
  ['retries with the refused token', 'pms.refused-401', () => ({ renewsToken: false })],
  ['repeats after 403', 'pms.refused-403', () => ({ repeats: { 401: 1, 403: 1 } })],
  ['repeats after 409', 'pms.refused-409', () => ({ repeats: { 401: 1, 409: 1 } })],
  ['opens a url again after 410', 'pms.refused-410', () => ({ reopens: true })],
  ['repeats at once after 429', 'pms.limited-429', () => ({ repeats: { 401: 1, 429: 1 } })],
  ['repeats twice after 500', 'pms.failed-500', () => ({ repeats: { 401: 1, 500: 2 } })],
  ['repeats at once after 503', 'pms.unavailable-503', () => ({ repeats: { 401: 1, 503: 1 } })],
  [
    'leaks a patient in the referer',
    'pms.private-addresses',
    () => ({ referer: 'http://pms.example/patients/9434765919/tests' }),
  ],
  [
    'leaks its secret in an address',
    'pms.private-addresses',
    () => ({ tokenQuery: `?client_secret=${clientOf('leaks its secret in an address')}-secret` }),
  ],
];

const vendor = 'my-pms';
/** Answers a callback as the package's documentation shows, but accepts callbacks with one fault. */
const answerUnless =
  (accepted?: CallbackFault): AnswerCallback =>
  (headers, body) => {
    try {
      verifyCallback({ headers, body, secrets: [callbackSecretOf(vendor)], now: () => clock.now() });
      return 204;
    } catch (error) {
      return error instanceof CallbackRefused && error.code === accepted ? 204 : 400;
    }
  };
const verified = answerUnless();

const refuseRepeats = (): AnswerCallback => {
  const seen = new Set<unknown>();
  return (headers, body) => {
    const id = headers['webhook-id'];
    if (seen.has(id)) return 409;
    seen.add(id);
    return verified(headers, body);
  };
};

const readFirstSignature: AnswerCallback = (headers, body) => {
  const [first] = String(headers['webhook-signature']).split(' ');
  return verified({ ...headers, 'webhook-signature': first }, body);
};

const wrongReceivers: readonly (readonly [what: string, requirement: string, answer: AnswerCallback])[] = [
  [
    'refuses a valid callback',
    'pms.result-read',
    firstly<Parameters<AnswerCallback>, number>(() => 400, verified),
  ],
  ['accepts a callback with a wrong signature', 'pms.callback-signature', answerUnless('bad_signature')],
  ['accepts an old callback', 'pms.callback-time', answerUnless('stale')],
  ['refuses a repeated callback', 'pms.callback-duplicate', refuseRepeats()],
  ['reads only the first of two signatures', 'pms.callback-rotation', readFirstSignature],
];

const { logger } = createRecordedLogger();
const demoRegistry = new URL(import.meta.resolve('@clinical-launch/simulators/registry.json'));
let twin: Twin;
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>;
const clock = new TestClock(Date.now());
const wait = (seconds: number) => clock.advance({ seconds });

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  receiver.answerWith(verified);
  const removals: (() => void)[] = [];
  let registryFile: string | undefined;
  for (const [what] of wrong) {
    const written = writeRegistry(registryFile ?? demoRegistry, {
      clientId: clientOf(what),
      protocol: 'pms',
    });
    removals.push(written.remove);
    registryFile = written.path;
  }
  twin = await startTwin({
    port: 0,
    host: '127.0.0.1',
    logger,
    environment: {},
    runClock: clock,
    client: { clientId: vendor, protocol: 'pms', callbackUrl: receiver.url },
    ...(registryFile === undefined ? {} : { registryFile }),
  });
  for (const remove of removals) remove();
});
afterAll(async () => {
  await twin.stop();
  await receiver.stop();
});

const clientOnSdk = () =>
  createPmsClient({
    baseUrl: twin.url,
    tokenUrl: `${twin.url}/idp/demo/oauth2/v2.0/token`,
    clientId: vendor,
    clientSecret: `${vendor}-secret`,
    scope: 'api://clinical-launch/.default',
  });

/** Plays a run with the package for practice management systems. */
function playOnSdk(): Promise<RunReport> {
  const pms = clientOnSdk();
  const ordered = newIdentifier();
  let isFirst = true;
  const act = async (action: PracticeAction) => {
    const originatingId = isFirst || action === 'amend' ? ordered : newIdentifier();
    isFirst = false;
    const serviceRequest = aServiceRequest({
      action: action === 'amend' ? 'UpdateTest' : 'OrderTest',
      originatingId,
    });
    try {
      const { url } = await pms.requestLaunch(serviceRequest);
      await fetch(url);
    } catch (error) {
      // The user reads the reason, and launches again.
      if (!(error instanceof LaunchRefused)) throw error;
    }
  };
  return playRun({ url: twin.url, client: vendor }, { act, wait });
}

const attestedByPeople = ['pms.callback-filed-once', 'pms.secrets-stored', 'pms.reference-shown'];

/**
 * Returns the results of a client without a callback address that is wrong in one requirement, or in none.
 */
const resultsWith = (failed?: string) =>
  Object.fromEntries(
    pmsProtocol.requirements
      .filter(({ needs }) => needs === undefined)
      .map(({ id, judge }) => [id, id === failed ? 'failed' : judge === undefined ? 'unattested' : 'passed']),
  );

describe('a conformance run of a practice management system', () => {
  it('passes a client that uses our package in every requirement that requests can prove', async () => {
    const { requirements } = await playOnSdk();
    const others = requirements.filter(({ result }) => result !== 'passed');
    expect(others.map(({ id, result }) => [id, result])).toEqual(
      attestedByPeople.map((id) => [id, 'unattested']),
    );
    expect(requirements).toHaveLength(pmsProtocol.requirements.length);
  });

  it('is not needed for the callback of a real order, which sends the document to the client', async () => {
    const received: unknown[] = [];
    receiver.answerWith((headers, body) => {
      received.push(JSON.parse(body.toString()));
      return verified(headers, body);
    });
    const { url, correlationId } = await clientOnSdk().requestLaunch(aServiceRequest());
    const browser = new Browser();
    const { document } = await orderTests(browser, await browser.open(url));
    await until(() => received.length > 0);
    expect(received).toEqual([
      expect.objectContaining({ data: expect.objectContaining({ launchId: correlationId, document }) }),
    ]);
  });

  it('passes the practice system of the demo', async () => {
    const body = (action: PracticeAction) =>
      new URLSearchParams({ patient: 'record-1', action: action === 'amend' ? 'UpdateTest' : 'OrderTest' });
    const act = (action: PracticeAction) =>
      fetch(`${twin.url}/demo/pms/launches`, { method: 'POST', body: body(action) });
    const report = await playRun({ url: twin.url, client: 'pms-demo' }, { act, wait });
    expect(resultsOf(report)).toEqual(resultsWith());
  });

  it.each(wrong)('fails a client that %s in the requirement %s alone', async (what, requirement, habits) => {
    const client = clientOf(what);
    const system = createPracticeSystem({ url: twin.url, clientId: client }, habits());
    const report = await playRun({ url: twin.url, client }, { act: system.launch, wait });
    expect(resultsOf(report)).toEqual(resultsWith(requirement));
  });

  it.each(wrongReceivers)(
    'fails a client that %s in the requirement %s alone',
    async (_what, requirement, answer) => {
      receiver.answerWith(answer);
      let report = await startRun({ url: twin.url, client: vendor });
      while (report.step !== undefined) report = await changeRun(twin.url, report.run, 'skip');
      const results = Object.entries(resultsOf(report));
      expect(results.filter(([, result]) => result === 'failed')).toEqual([[requirement, 'failed']]);
      expect(results.filter(([, result]) => result === 'passed')).toHaveLength(5);
    },
  );
});
