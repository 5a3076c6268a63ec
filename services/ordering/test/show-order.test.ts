import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  chooseAndReview,
  fieldValues,
  rowsOf,
  startOrdering,
  submit,
} from './launches.ts';
import { textOf } from './listing.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

describe('the result page of a submitted order', () => {
  it('shows the references and the samples to collect, and contains the hidden iframe “Notepad”', async () => {
    const launch = await chooseAndReview(application, ['BUE', 'CCLOT', 'KMSU']);
    const location = (await submit(launch)).headers.get('location') ?? '';
    const response = await launch.send(location);
    expect(response.status).toBe(200);
    const html = await response.text();
    const [row] = await rowsOf(application, launch);
    for (const { orderReference } of row?.batches ?? []) expect(html).toContain(orderReference);
    expect([...html.matchAll(/<strong>([^<]*(?:top\)))<\/strong>/g)].map(([, text]) => text)).toEqual([
      'Citrate blood (blue top)',
      'Serum (gold top)',
      'Urine, midstream, boric acid (red top)',
    ]);
    const frame = /<iframe[^>]*>/.exec(html)?.[0] ?? '';
    expect(frame).toContain('name="Notepad"');
    expect(frame).toContain(`src="/orders/${row?.guid}/notepad"`);
    expect(frame).toMatch(/ hidden aria-hidden="true"/);
    expect(frame).not.toContain('data-result-origin');
  });

  it('shows for an urgent order the tag Urgent and the laboratory’s telephone number, and offers the form for printing first', async () => {
    const launch = await chooseAndReview(application, ['BUE', 'KMSU']);
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const review = await launch.page('review');
    expect(review.match(/Printed on the request form; not sent electronically/g)).toHaveLength(2);
    const submitted = await launch.post('review', [
      ['version', version],
      ['priority', 'urgent'],
      ['action', 'submit'],
    ]);
    const html = await launch.page(submitted.headers.get('location') ?? '');
    expect(html).toMatch(/nhsuk-tag--red[^>]*>\s*Urgent/);
    expect(textOf(html)).toContain('Telephone the laboratory and send the printed form.');
    expect(textOf(html)).toContain('North Coast Pathology: 01632 960201');
    const [firstAction] = [...html.matchAll(/href="([^"]*)"/g)].flatMap(([, href]) =>
      href?.includes('/requests/') ? [href] : [],
    );
    expect(firstAction).toMatch(/\/form$/);
  });

  it('states that clinical details and answers are only on the printed form, if the order contains any', async () => {
    for (const [details, said] of [
      ['Tired', true],
      ['', false],
    ] as const) {
      const launch = await chooseAndReview(application, ['BUE']);
      const html = await launch.page((await submit(launch, details)).headers.get('location') ?? '');
      expect(html.includes('Clinical details and answers are not sent electronically')).toBe(said);
      expect(html).not.toContain('Telephone the laboratory');
    }
  });

  it('sets one cookie, which sends the session only to the path of this order document', async () => {
    const launch = await chooseAndReview(application, ['BUE']);
    const response = await launch.send((await submit(launch)).headers.get('location') ?? '');
    const [row] = await rowsOf(application, launch);
    expect(response.headers.getSetCookie()).toEqual(
      [`/oltr/${launch.launchId}`, `/orders/${row?.guid}`].map(
        (path) =>
          `__Secure-launch-session=${launch.ticket}; Max-Age=1800; Path=${path}; HttpOnly; Secure; SameSite=Lax`,
      ),
    );
  });

  it('offers the order document to the registered origin, and only registered origins can frame it', async () => {
    const client = { frameAncestors: ['https://pms.example.org'], resultOrigin: 'https://pms.example.org' };
    const launch = await chooseAndReview(application, ['BUE'], aLaunchContext({ client }));
    const response = await launch.send((await submit(launch)).headers.get('location') ?? '');
    expect(await response.text()).toContain('data-result-origin="https://pms.example.org"');
    expect(response.headers.get('content-security-policy')).toContain(
      'frame-ancestors https://pms.example.org',
    );
    expect(response.headers.getSetCookie()[0]).toContain('SameSite=None');
    const unframed = await application.openLaunch();
    expect((await unframed.send('')).headers.get('content-security-policy')).toContain(
      "frame-ancestors 'none'",
    );
  });

  it('is not shown for an order of another launch: the answer is 404', async () => {
    const launch = await chooseAndReview(application, ['BUE']);
    const result = (await submit(launch)).headers.get('location') ?? '';
    const guid = result.split('/').at(-1);
    const other = await application.openLaunch();
    expect((await other.send(`${other.home}orders/${guid}`)).status).toBe(404);
    expect((await other.send(result)).status).toBe(401);
    expect((await launch.send(`${launch.home}orders/${launch.launchId}`)).status).toBe(404);
  });
});
