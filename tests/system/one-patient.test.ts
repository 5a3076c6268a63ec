import { Browser } from '@clinical-launch/simulators/play/browser';
import { submissionOf } from '@clinical-launch/simulators/play/order-tests';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createDemoPms, startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
});
afterAll(() => platform.stop());

/** HbA1c, which has a minimum interval, so that a second order counts as a repeat. */
const test = 'DHBA1C';
const nhsNumber = 'https://fhir.nhs.uk/Id/nhs-number';

type Action = NonNullable<Parameters<typeof aServiceRequest>[0]>['action'];

/** Opens a launch for the patient with this NHS number in a separate browser. */
async function open(value: string, action: Action = 'OrderTest') {
  const pms = createDemoPms(platform.url);
  const patient = { identifier: [{ system: nhsNumber, value }] };
  const { url } = await pms.requestLaunch(aServiceRequest({ action, patient }));
  const browser = new Browser();
  return { browser, page: await browser.open(url) };
}

/** Returns the review of an order of the test. */
async function review(value: string) {
  const { browser, page } = await open(value);
  const reviewed = await browser.open(page.url, new URLSearchParams({ test, action: 'review' }));
  return { browser, reviewed };
}

/** Orders the test, and resolves with the GUID of the request and its document. */
async function order(value: string) {
  const { browser, reviewed } = await review(value);
  const form = submissionOf(reviewed);
  form.set('repeat-reason-text', 'Asked by the specialist');
  const { html } = await browser.open(reviewed.url, form);
  const [, guid = ''] = /src="\/orders\/([0-9a-f-]{36})\/notepad/.exec(html) ?? [];
  const { html: xml } = await browser.open(`${platform.url}/orders/${guid}.xml`);
  return { guid, xml };
}

/** Orders the test for a patient with these identifiers, and returns the pages and the document. */
async function printed(identifier: { system: string; value: string }[]) {
  const { url } = await createDemoPms(platform.url).requestLaunch(
    aServiceRequest({ patient: { identifier } }),
  );
  const browser = new Browser();
  const page = await browser.open(url);
  const reviewed = await browser.open(page.url, new URLSearchParams({ test, action: 'review' }));
  const address = new URL('review?print', reviewed.url).href;
  const form = submissionOf(reviewed);
  const { html } = await browser.open(address, form);
  const [, guid = ''] = /src="\/orders\/([0-9a-f-]{36})\/notepad/.exec(html) ?? [];
  return {
    papers: html.slice(html.indexOf('app-form__name')),
    xml: (await browser.open(`${platform.url}/orders/${guid}.xml`)).html,
  };
}

const listed = async (value: string) => (await open(value, 'PatientRequestList')).page.html;
const isRepeat = async (value: string) =>
  (await review(value)).reviewed.html.includes('name="repeat-reason"');

const separator = fc.constantFrom('', ' ', '-', '\u2011');
const spellingOf = (number: string) =>
  fc
    .tuple(...Array.from(number, (digit) => separator.map((sign) => digit + sign)))
    .map((parts) => parts.join('').trim());

describe('a patient', () => {
  it('is recognised in every spelling of the NHS number: in lists, for repeats and in the document', async () => {
    const number = '9434765870';
    const guids: string[] = [];
    await fc.assert(
      fc.asyncProperty(spellingOf(number), async (spelling) => {
        expect(await isRepeat(spelling)).toBe(guids.length > 0);
        const { guid, xml } = await order(spelling);
        guids.push(guid);
        expect(xml).toContain(number);
        const list = await listed(spelling);
        expect(guids.filter((each) => !list.includes(each))).toEqual([]);
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  it('with an invalid NHS number is matched to nobody, and every page shows a warning', async () => {
    const { guid } = await order('943 476 5918');
    expect(guid).not.toBe('');
    expect(await isRepeat('943 476 5918')).toBe(false);
    const list = await listed('943 476 5918');
    expect(list).not.toContain(guid);
    expect(list).toContain('is not a valid NHS number');
    expect((await open('943 476 5918')).page.html).toContain('is not a valid NHS number');
    expect((await open('943 476 5870')).page.html).not.toContain('is not a valid NHS number');
  });

  it('with a placeholder instead of an NHS number is matched to nobody, and the pages call it a placeholder', async () => {
    const { guid, xml } = await order('9999999999');
    expect(xml).toContain('<nhsNumber></nhsNumber>');
    expect(await isRepeat('9999999999')).toBe(false);
    const list = await listed('9999999999');
    expect(list).not.toContain(guid);
    expect(list).toMatch(/>Placeholder<[^]*999 999 9999<\/bdi> is a placeholder\./);
  });

  it('with a placeholder has no number on the request form, on labels and in the document', async () => {
    const hospital = { system: 'https://fhir.clinical-launch.example/Id/hospital-number', value: 'WH-77' };
    const { papers, xml } = await printed([{ system: nhsNumber, value: '9999999999' }, hospital]);
    expect(`${papers}${xml}`).not.toMatch(/9999999999|999 999 9999/);
    expect(papers.split('WH-77').length).toBeGreaterThan(2);
    const unknown = await printed([{ ...hospital, value: 'UNKNOWN' }]);
    expect(unknown.papers).not.toContain('UNKNOWN');
  });
});
