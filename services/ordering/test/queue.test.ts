import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Application, startOrdering } from './launches.ts';
import { aPractice, openList, orderFor, search, textOf } from './listing.ts';
import { filledIn, record, stored, taken } from './sample-forms.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** Orders each list of tests in turn, and opens the practice's queue. */
async function openQueue(...orders: string[][]) {
  const request = { practice: aPractice() };
  const guids: string[] = [];
  for (const tests of orders) guids.push((await orderFor(application, { request }, tests)).guid);
  const launch = await openList(application, 'LocationSampleQueue', { request });
  /** Records the first sample of a request. Returns the address and the text of the green button afterwards. */
  const recordFirst = async (guid: string) => {
    const collector = { ...launch, guid };
    await record(collector, taken('S1'));
    const html = await launch.page(`orders/${guid}`);
    const [, href, text] =
      /<a class="nhsuk-button" [^>]*href="([^"]*)"[^>]*>\s*([^<]*?)\s*</.exec(html) ?? [];
    return { href, text };
  };
  return { launch, guids, recordFirst, request };
}

const referenceOf = async (guid: string) => {
  const { batches } = await stored(application, { guid });
  return batches[0]?.orderReference ?? '';
};

describe('the page after a sample from the queue of a practice', () => {
  it('leads to the next older Incomplete request, and from the oldest back to the list', async () => {
    const { launch, guids, recordFirst } = await openQueue(['HFBC'], ['HESR'], ['BUE']);
    const [oldest = '', middle = '', newest = ''] = guids;
    expect(await recordFirst(newest)).toEqual({
      href: `${launch.home}requests/${middle}/samples`,
      text: 'Next in the list',
    });
    await recordFirst(middle);
    expect(await recordFirst(oldest)).toEqual({ href: `${launch.home}requests`, text: 'Back to the list' });
  });

  it('keeps to the search of the list', async () => {
    const { launch, guids, recordFirst } = await openQueue(['HESR'], ['BUE'], ['HESR']);
    await search(launch, 'ESR');
    expect((await recordFirst(guids[2] ?? '')).href).toBe(`${launch.home}requests/${guids[0]}/samples`);
  });
});

describe('a reference that is typed into the search of a list', () => {
  it('opens its request with or without its hyphen, and leaves the search of the list', async () => {
    const { launch, guids } = await openQueue(['HFBC'], ['HESR']);
    const [guid = ''] = guids;
    await search(launch, 'ESR');
    const reference = await referenceOf(guid);
    for (const q of [reference, reference.toLowerCase(), reference.replace('-', ''), `]C0${reference}`]) {
      const { status, headers } = await launch.post('requests', [
        ['q', q],
        ['action', 'search'],
      ]);
      expect([status, headers.get('location')]).toEqual([303, `${launch.home}requests/${guid}/samples`]);
    }
    expect(await launch.page('requests')).toMatch(/value="ESR"/);
  });

  it('opens nothing for the reference of another practice, or a part of a reference', async () => {
    const [own, other] = [await openQueue(['HFBC']), await openQueue(['HFBC'])];
    const reference = await referenceOf(other.guids[0] ?? '');
    for (const q of ['NCP', reference.slice(0, -1), reference]) {
      const { headers } = await own.launch.post('requests', [
        ['q', q],
        ['action', 'search'],
      ]);
      expect(headers.get('location')).toBe(`${own.launch.home}requests#found`);
    }
    expect(textOf(await own.launch.page('requests'))).toContain('No requests match');
  });
});

describe('a Complete request', () => {
  it('tells whom to telephone if it is wrong', async () => {
    const { launch, guids, request } = await openQueue(['HFBC']);
    const [guid = ''] = guids;
    const collector = { ...launch, guid };
    const fields = filledIn(await launch.page(`requests/${guid}/samples`), taken('S1'));
    await launch.post(`requests/${guid}/samples`, [...fields]);
    const advice = 'If it is wrong, telephone North Coast Pathology on 01632 960201.';
    expect(textOf(await launch.page(`orders/${collector.guid}`))).toContain(advice);
    const report = await openList(application, 'LocationReportList', { request });
    expect(textOf(await report.page(`requests/${guid}`))).toContain(advice);
  });
});
