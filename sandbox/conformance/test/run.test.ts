import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { describe, expect, it } from '@jest/globals';
import { createKeySubstitutes } from '../src/id-tokens.ts';
import { pmsProtocol } from '../src/pms.ts';
import type { Protocol } from '../src/requirement.ts';
import { Run } from '../src/run.ts';
import { anExchange, issued, opened } from './recorded-exchange.ts';

const clientId = 'pms';
const runOf = (protocol: Protocol = pmsProtocol) =>
  new Run({
    clientId,
    protocol,
    attestations: {},
    clock: new TestClock(),
    tools: { createLaunch: async () => '', endLaunch: async () => undefined, keys: createKeySubstitutes() },
  });
const stepOf = (run: ReturnType<typeof runOf>) => run.report().step?.id;

/** Starts a run, and skips the steps before `step`. */
function runAt(step: string) {
  const run = runOf();
  while (stepOf(run) !== step) run.skip();
  return run;
}

describe('a run', () => {
  it('leaves the step refused-401 only when a launch is opened after the refusal', () => {
    const run = runAt('refused-401');
    run.record({ ...opened(), clientId });
    expect(stepOf(run)).toBe('refused-401');
    run.record({ ...issued({ fault: '401' }), clientId });
    expect(stepOf(run)).toBe('refused-401');
    run.record({ ...opened(), clientId });
    expect(stepOf(run)).toBe('refused-403');
  });

  it('leaves the step amend only after a launch with the action UpdateTest', () => {
    const run = runAt('amend');
    for (const exchange of [issued(), opened()]) run.record({ ...exchange, clientId });
    expect(stepOf(run)).toBe('amend');
    const body = JSON.stringify(aServiceRequest({ action: 'UpdateTest' }));
    for (const exchange of [issued({ body }), opened()]) run.record({ ...exchange, clientId });
    expect(stepOf(run)).toBe('refused-401');
  });

  it('records a request that names no client only at an endpoint in `sharedEndpoints`', () => {
    const isDone = () => true;
    const step = { id: 'a', action: 'wait', instruction: '', isDone } as const;
    const run = runOf({
      ...pmsProtocol,
      sharedEndpoints: ['keys'],
      steps: [step, { ...step, id: 'b' }, { ...step, id: 'c' }],
    });
    run.record(issued());
    run.record({ ...issued(), clientId: 'other' });
    expect(stepOf(run)).toBe('a');
    run.record(anExchange({ path: '/idp/demo/discovery/v2.0/keys' }));
    expect(stepOf(run)).toBe('b');
    run.record({ ...issued(), clientId });
    expect(stepOf(run)).toBe('c');
  });

  it('reports the error of a step to the caller that waits for the step to begin, and remains at that step', async () => {
    const begin = () => Promise.reject(new Error('The host is not available'));
    const step = { id: 'a', action: 'wait', instruction: '', begin, isDone: () => false } as const;
    const run = runOf({ ...pmsProtocol, steps: [step] });
    // Lets Node report a rejection that nobody handles.
    await new Promise((resolve) => setImmediate(resolve));
    await expect(run.begun()).rejects.toThrow('The host is not available');
    expect(stepOf(run)).toBe('a');
  });

  it('ends after 5,000 exchanges, and ignores further exchanges', () => {
    const step = { id: 'a', action: 'wait', instruction: '', isDone: () => false } as const;
    const run = runOf({ ...pmsProtocol, steps: [step] });
    const exchange = issued();
    const recordAs = (launchId: string) => run.record({ ...exchange, clientId, launchId });
    for (let count = 1; count < 5000; count += 1) recordAs('one');
    expect(run.report().state).toBe('running');
    recordAs('two');
    recordAs('three');
    expect(run.report()).toMatchObject({ state: 'finished', launches: ['one', 'two'] });
  });

  it('ends after 32 MiB of requests and answers', () => {
    const step = { id: 'a', action: 'wait', instruction: '', isDone: () => false } as const;
    const run = runOf({ ...pmsProtocol, steps: [step] });
    const recordLarge = () => run.record({ ...issued({ body: 'x'.repeat(8 * 1024 * 1024) }), clientId });
    for (let count = 1; count < 4; count += 1) recordLarge();
    expect(run.report().state).toBe('running');
    recordLarge();
    expect(run.report().state).toBe('finished');
  });

  it('names the requirements that it cannot judge without an address of the client', () => {
    const { notJudged, requirements } = runOf().report();
    const ofCallbacks = pmsProtocol.requirements.filter(({ needs }) => needs === 'callback');
    expect(notJudged).toEqual(ofCallbacks.map(({ id }) => id));
    expect(notJudged).toContain('pms.callback-signature');
    expect(requirements.map(({ id }) => id)).not.toContain('pms.callback-signature');
  });
});
