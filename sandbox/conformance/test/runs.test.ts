import { callbackBody } from '@clinical-launch/contracts/order/callback';
import { listen } from '@clinical-launch/http/server';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { expect, it } from '@jest/globals';
import { createAttribution } from '../src/attribution.ts';
import { createRecordingProxy } from '../src/recording-proxy.ts';
import { createConformanceRuns } from '../src/runs.ts';
import { issued, origin } from './recorded-exchange.ts';

const clientId = 'pms';
const clock = new TestClock();
const createRuns = () =>
  createConformanceRuns({
    clock,
    receiverOf: () => ({
      address: 'https://pms.example/callbacks',
      post: async () => 204,
    }),
  });
const wanted = { clientId, protocol: 'pms', attestations: {} } as const;

it('a callback belongs to the run of its launch, although a newer run of the client is running', async () => {
  const runs = createRuns();
  const [first, second] = [runs.start(wanted), runs.start(wanted)];
  const launchId = crypto.randomUUID();
  runs.watch.record({ ...issued({ headers: { 'clinical-launch-run': first.id } }), clientId, launchId });
  const body = callbackBody({
    orderGuid: crypto.randomUUID(),
    orderVersion: 1,
    launchId,
    messageId: crypto.randomUUID(),
    renderedAt: new Date(0),
    xml: '',
  });
  expect(await runs.forward(clientId, { headers: {}, body })).toBe(204);
  const inTime = [first, second].map(
    (run) => run.report().requirements.find(({ id }) => id === 'pms.callback-in-time')?.result,
  );
  expect(inTime).toEqual(['passed', 'waiting']);
});

it('the fault of a run applies before the fault that a header requests', () => {
  const runs = createRuns();
  const run = runs.start(wanted);
  while (run.step()?.id !== 'refused-401') run.skip();
  const { request } = issued({ headers: { 'clinical-launch-fault': '503' } });
  expect(runs.watch.faultFor(request, { clientId })).toBe('401');
  run.finish();
  expect(runs.watch.faultFor(request, { clientId })).toBe('503');
});

it('a token that the platform refuses proves nothing, although the verifier of the proxy accepts it', async () => {
  let status = 401;
  const platform = await listen((_request, response) => void response.writeHead(status).end(), {
    port: 0,
    host: '127.0.0.1',
  });
  const recorded: unknown[] = [];
  const forward = createRecordingProxy({
    target: new URL(`http://127.0.0.1:${platform.port}`),
    publicUrl: new URL(origin),
    attribution: createAttribution(async () => clientId),
    clock,
    watch: { ...createRuns().watch, record: (exchange) => void recorded.push(exchange.clientId) },
  });
  const proxy = await listen(forward, { port: 0, host: '127.0.0.1' });
  const send = () =>
    fetch(`http://127.0.0.1:${proxy.port}/asked`, { headers: { Authorization: 'Bearer a.b.c' } });
  await send();
  status = 200;
  await send();
  expect(recorded).toEqual([undefined, clientId]);
  await proxy.stop();
  await platform.stop();
});

it('the proxy does not forward the header that names the run of a request', async () => {
  const received: unknown[] = [];
  const platform = await listen(
    (request, response) => {
      received.push(request.url, request.headers['clinical-launch-run']);
      response.end();
    },
    { port: 0, host: '127.0.0.1' },
  );
  const forward = createRecordingProxy({
    target: new URL(`http://127.0.0.1:${platform.port}`),
    publicUrl: new URL(origin),
    attribution: createAttribution(),
    clock,
    watch: createRuns().watch,
  });
  const proxy = await listen(forward, { port: 0, host: '127.0.0.1' });
  await fetch(`http://127.0.0.1:${proxy.port}/asked`, {
    headers: { 'Clinical-Launch-Run': crypto.randomUUID() },
  });
  expect(received).toEqual(['/asked', undefined]);
  await proxy.stop();
  await platform.stop();
});

it.each(['pms', 'partner'] as const)(
  'a client that answers nothing and sends nothing passes no requirement: %s',
  async (protocol) => {
    const runs = createConformanceRuns({
      clock,
      receiverOf: () => ({
        address: 'https://client.example/messages',
        post: async () => 0,
      }),
      desktop: {
        create: async () => {
          const launchUrl = 'https://client.example/launch?iss=https%3A%2F%2Fplatform.example&launch=L';
          return { launchUrl, launchId: crypto.randomUUID() };
        },
        end: async () => undefined,
      },
    });
    const run = runs.start({ clientId, protocol, attestations: {} });
    while (run.step() !== undefined) {
      await run.begun();
      run.skip();
    }
    const { requirements } = run.report();
    expect(requirements.filter(({ result }) => result === 'passed')).toEqual([]);
    expect(requirements.length).toBeGreaterThan(10);
  },
);
