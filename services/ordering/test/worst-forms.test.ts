import { worstForms } from '@clinical-launch/testing/worst-bodies';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Application, openForOrder, startOrdering } from './launches.ts';
import { samplesPage, threeSamples } from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const fields = ['launch', 'test', 'was', 'q', 'action', 'version', 'details', 'taken:S1', 'by', 'priority'];
const limitBytes = 64 * 1024;

describe('a form up to the size limit', () => {
  it.each([
    'the catalogue',
    'the chosen tests',
    'the matches of a search',
    'the review',
    'the list',
    'the samples',
  ] as const)('for %s is never answered 5xx, whatever its fields contain', async (page) => {
    const collecting = await openForOrder(application, 'PatientSampleQueue', threeSamples);
    const ordering = await application.openLaunch();
    const paths: Readonly<Record<typeof page, readonly [launch: typeof ordering, path: string]>> = {
      'the catalogue': [ordering, ''],
      'the chosen tests': [ordering, 'chosen'],
      'the matches of a search': [ordering, 'matches'],
      'the review': [ordering, 'review'],
      'the list': [collecting, 'requests'],
      'the samples': [collecting, samplesPage(collecting)],
    };
    const [launch, path] = paths[page];
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = async (body: string) => {
      const response = await launch.send(path, { method: 'POST', body, headers });
      expect(response.status).toBeLessThan(500);
    };
    await send('action=search');
    await fc.assert(fc.asyncProperty(worstForms(fields, limitBytes), send), {
      numRuns: 40,
      endOnFailure: true,
    });
  });
});
