import { describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import type { Orderable } from '../src/domain/catalogue.ts';
import { changeTests } from '../src/domain/change-tests.ts';
import { planBatches } from '../src/domain/collection.ts';
import { recordSamples } from '../src/domain/record-samples.ts';
import { emptyTestRequest, type TestRequest, toOrder } from '../src/domain/test-request.ts';
import { aLaunchContext } from './launches.ts';

const catalogue = readCatalogue();
const now = '2026-03-02T09:30:00.000Z';
const testsOf = (codes: readonly string[]) => codes.flatMap((code) => catalogue.orderables.get(code) ?? []);

/** Returns a request for these tests, or the request `before` with these tests added. */
function requested(codes: readonly string[], answers: Record<string, string>, before?: TestRequest) {
  const answered = Object.entries(answers).map(([question, answer]) => ({
    question,
    text: question,
    answer,
  }));
  const details = { clinicalDetails: '', priority: 'routine', answers: answered } as const;
  const context = aLaunchContext();
  const request = before ?? emptyTestRequest({ guid: context.launchId, context, details, now });
  const add = testsOf(codes).map((test) => ({ test }));
  return changeTests(
    { ...request, ...details },
    { add, remove: [], now, batchNumbers: [1, 2, 3], newGuid: () => context.launchId },
  );
}

/** Returns a line for each sample with its tests: `Viral swab (green top), Genital: VHSV`. */
const samplesOf = ({ batches }: TestRequest) =>
  batches.flatMap(({ samples, tests }) =>
    samples.map(({ id, description }) => {
      const own = tests.filter((test) => [test.sample, ...(test.otherSamples ?? [])].includes(id));
      return `${description}: ${own.map(({ code }) => code.value).join(' ')}`;
    }),
  );

const planned = (tests: readonly Orderable[], answers: Record<string, string> = {}) =>
  planBatches(tests, catalogue, answers).flatMap(({ samples }) =>
    samples.map((each) => [each.container.id, each.site, each.timing, each.tests.map(({ code }) => code)]),
  );

describe('the tests of a request', () => {
  it('never share one swab for two sites', () => {
    const request = requested(['VRESP', 'VHSV'], { 'lesion-site:VHSV': 'Genital' });
    expect(samplesOf(request)).toEqual([
      'Viral swab (green top), Nose and throat: VRESP',
      'Viral swab (green top), Genital: VHSV',
    ]);
  });

  it('share one tube of blood if they need the same container', () => {
    expect(samplesOf(requested(['HFBC', 'DHBA1C', 'BUE'], {}))).toEqual([
      'Serum (gold top): BUE',
      'EDTA blood (purple top): HFBC DHBA1C',
    ]);
  });

  it('share a swab if the answers name the same site, and need two swabs otherwise', () => {
    const [herpes] = testsOf(['VHSV']);
    if (herpes === undefined) throw new Error('The catalogue has no VHSV');
    const other = { ...herpes, code: 'VZVPCR' };
    const plan = (site: string) =>
      planned([herpes, other], { 'lesion-site:VHSV': 'Genital', 'lesion-site:VZVPCR': site });
    expect(plan('Genital')).toEqual([['swab-viral', 'Genital', undefined, ['VHSV', 'VZVPCR']]]);
    expect(plan('Anal')).toHaveLength(2);
    expect(planned([herpes, other])).toHaveLength(2);
  });
});

describe('a test that needs several containers', () => {
  it('has a sample in each container, and is in the document once, with its first sample', () => {
    const request = requested(['CTHRO', 'HFBC'], { anticoagulant: 'None' });
    expect(samplesOf(request)).toEqual([
      'Citrate blood (blue top): CTHRO',
      'EDTA blood (purple top): CTHRO HFBC',
    ]);
    const [batch] = toOrder(request).batches;
    expect(batch?.samples.map(({ id }) => id)).toEqual(['S1', 'S2']);
    const tests = batch?.tests.map(({ code, sample }) => `${code.value} ${sample}`).toSorted();
    expect(tests).toEqual(['CTHRO S1', 'HFBC S2']);
    expect(batch?.tests.find(({ code }) => code.value === 'CTHRO')).not.toHaveProperty('otherSamples');
  });

  it('has a sample for each time, and shares none with another test (glucose tolerance)', () => {
    expect(planned(testsOf(['DGLUF', 'DGTT']))).toEqual([
      ['fluoride', undefined, undefined, ['DGLUF']],
      ['fluoride', undefined, 'fasting', ['DGTT']],
      ['fluoride', undefined, '2 hours after glucose', ['DGTT']],
    ]);
  });

  it('is collected when its last container is collected, which completes the request', () => {
    const request = requested(['DGTT'], { fasting: 'Fasting' });
    const collected = { at: now, by: 'Hill, Ada' };
    const one = recordSamples(request, [{ sample: 'S1', collected, quantity: 1 }], now);
    expect([one.status, one.batches[0]?.tests[0]?.status, one.batches[0]?.status]).toEqual([
      'Incomplete',
      'R',
      'R',
    ]);
    const both = recordSamples(one, [{ sample: 'S2', collected, quantity: 1 }], now);
    expect([both.status, both.batches[0]?.tests[0]?.status]).toEqual(['Complete', 'S']);
    expect(both.batches[0]?.samples.map(({ timing }) => timing)).toEqual([
      'fasting',
      '2 hours after glucose',
    ]);
  });
});

describe('a changed answer about the site of a sample', () => {
  const before = requested(['VHSV'], { 'lesion-site:VHSV': 'Genital' });

  it('changes the site of a sample that has not been collected', () => {
    const after = requested([], { 'lesion-site:VHSV': 'Anal' }, before);
    expect(samplesOf(after)).toEqual(['Viral swab (green top), Anal: VHSV']);
  });

  it('does not change a sample that has been collected', () => {
    const collected = { at: now, by: 'Hill, Ada' };
    const taken = recordSamples(before, [{ sample: 'S1', collected, quantity: 1 }], now);
    expect(samplesOf(requested([], { 'lesion-site:VHSV': 'Anal' }, taken))).toEqual([
      'Viral swab (green top), Genital: VHSV',
    ]);
  });

  it('adds a second sample if another test shared the sample', () => {
    const [herpes] = testsOf(['VHSV']);
    const [batch] = before.batches;
    if (herpes === undefined || batch === undefined) throw new Error('The request has no test');
    const [test] = batch.tests;
    if (test === undefined) throw new Error('The batch has no test');
    const second = {
      ...test,
      id: 'T2',
      code: { ...test.code, value: 'VZVPCR' },
      siteFrom: 'lesion-site:VZVPCR',
    };
    const shared = { ...before, batches: [{ ...batch, tests: [test, second] }] };
    const answers = { 'lesion-site:VHSV': 'Genital', 'lesion-site:VZVPCR': 'Other skin' };
    expect(samplesOf(requested([], answers, shared))).toEqual([
      'Viral swab (green top), Genital: VHSV',
      'Viral swab (green top), Other skin: VZVPCR',
    ]);
  });
});
