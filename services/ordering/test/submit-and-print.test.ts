import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  fieldValues,
  rowsOf,
  startOrdering,
} from './launches.ts';
import { publishedBy } from './published-events.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const review = (tests: string[]) =>
  chooseAndReview(application, tests, aLaunchContext({ request: { patient: aPatient() } }));

describe('the button “Submit and print”', () => {
  it('submits once if it is clicked twice, and leads to the result page with the form and the labels', async () => {
    const launch = await review(['HFBC']);
    const html = await launch.page('review');
    const form = [
      ['version', fieldValues(html, 'version')[0] ?? ''],
      ['action', 'submit-and-print'],
    ] as const;
    const posted = await Promise.all([launch.post('review?print', form), launch.post('review?print', form)]);
    const [row, ...others] = await rowsOf(application, launch);
    expect(others).toEqual([]);
    const result = `${launch.home}orders/${row?.guid}`;
    expect(posted.map(({ headers }) => headers.get('location'))).toEqual([
      `${result}?print`,
      `${result}?print`,
    ]);
    const printed = await launch.page(`${result}?print`);
    expect(printed).toContain('name="Notepad"');
    expect(printed.match(/<section class="app-form"|<li class="app-label"/g)).toHaveLength(2);
    expect(await launch.page(result)).not.toContain('app-papers');
    const events = await publishedBy(application, launch, 'order.printed.v1');
    expect(events.map(({ data }) => [data.what, data.isReprint])).toEqual([
      ['form', false],
      ['labels', false],
    ]);
  });

  it('leads back to the review with errors, and stores no request, if an answer is missing', async () => {
    const launch = await review(['XCXR']);
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const posted = await launch.post('review?print', [
      ['version', version],
      ['action', 'submit-and-print'],
    ]);
    expect(posted.headers.get('location')).toBe(`${launch.home}review?check`);
    expect(await rowsOf(application, launch)).toEqual([]);
  });
});
