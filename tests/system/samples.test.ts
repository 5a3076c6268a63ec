import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServiceRequestReader } from '@clinical-launch/contracts/fhir/service-request-reader';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { Browser, plainText } from '@clinical-launch/simulators/play/browser';
import { submissionOf } from '@clinical-launch/simulators/play/order-tests';
import { schemaFaultsOf, textsAt } from '@clinical-launch/testing/xml';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDemoPms, startPlatformForTest } from './running-platform.ts';

const directory = new URL('../../libs/testing/samples/', import.meta.url);
const samples = readdirSync(directory).filter((name) => name.endsWith('.json'));
const readServiceRequest = createServiceRequestReader(defaultNamespaces);

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
});
afterAll(() => platform.stop());

async function launch(name: string) {
  const payload = JSON.parse(readFileSync(new URL(name, directory), 'utf8'));
  payload.identifier[0].value = randomUUID();
  const pms = createDemoPms(platform.url);
  const { url } = await pms.requestLaunch(payload);
  const browser = new Browser();
  return { browser, page: await browser.open(url), reading: readServiceRequest(payload) };
}

it.each(samples)('the sample %s is accepted and can be launched', async (name) => {
  const { page, reading } = await launch(name);
  expect(page.status).toBe(200);
  if (!('request' in reading)) throw new Error('the sample has faults');
  const { action, patient, practice } = reading.request;
  // The banner shows the complete surname in capitals. An action for a whole practice has no patient.
  expect(plainText(page.html)).toContain(
    action.startsWith('Location') ? practice.name : patient.name.family.toLocaleUpperCase('en-GB'),
  );
});

describe('a sample with an unknown identifier', () => {
  it.each([
    ['02-UpdateTest.json', 'Requests that can be changed', true],
    ['03-PatientSampleQueue.json', 'Samples to collect', true],
    ['04-PatientRequestList.json', 'Samples to collect', false],
    ['05-LocationSampleQueue.json', 'Samples to collect in this practice', false],
    ['06-PatientReport.json', 'This patient’s requests', true],
    ['07-PatientReportList.json', 'This patient’s requests', false],
    ['08-LocationReportList.json', 'Practice requests', false],
  ])('%s opens the list for its action', async (name, heading, isNamed) => {
    const { page } = await launch(name);
    expect(/<h1[^>]*>([^<]*)<\/h1>/.exec(page.html)?.[1]).toBe(heading);
    expect(page.html.includes('The request that you opened in your practice system was not found')).toBe(
      isNamed,
    );
    expect(page.html).not.toMatch(/<iframe|<textarea/);
  });
});

describe('a submitted order', () => {
  const orders = samples.filter((name) => /^(01|09|11|12)-/.test(name));

  it.each(orders)('of %s returns valid XML with unchanged names', async (name) => {
    const { browser, page, reading } = await launch(name);
    if (!('request' in reading)) throw new Error('the sample has faults');
    const { patient, requester } = reading.request;
    const [, code = ''] = /name="test" type="checkbox" value="([^"]+)"/.exec(page.html) ?? [];
    const review = await browser.open(page.url, new URLSearchParams({ test: code, action: 'review' }));
    const result = await browser.open(review.url, submissionOf(review));
    const [, source = ''] = /<iframe name="Notepad"[^>]*? src="([^"]+)"/.exec(result.html) ?? [];
    const notepad = await browser.open(new URL(source, result.url).href);
    const [, output = ''] = /<textarea[^>]*name="Output"[^>]*>([^]*?)<\/textarea>/.exec(notepad.html) ?? [];
    const document = plainText(output);

    expect(await schemaFaultsOf(document)).toEqual([]);
    const texts = {
      'patient/familyName': patient.name.family,
      'patient/firstNames': patient.name.given.join(' '),
      'patient/title': patient.name.title ?? '',
      'patient/dateOfBirth': patient.birthDate.replaceAll('-', ''),
      'orderHeader/requestor/familyName': requester.name.family,
      'orderHeader/requestor/identificationCode/value': requester.identifier.value,
      'orderHeader/orderBatch/testOrder/code/value': code,
    };
    expect(await textsAt(document, Object.keys(texts))).toEqual(texts);

    const download = await browser.open(new URL(source.replace('/notepad', '.xml'), result.url).href);
    expect([download.status, download.html]).toEqual([200, document]);
  });
});
