import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServiceRequestReader, defaultNamespaces } from '@clinical-launch/contracts';
import { createPmsClient } from '@clinical-launch/pms-client';
import { schemaFaultsOf, textsAt } from '@clinical-launch/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser, plainText } from '../src/browser.ts';
import { startPlatformForTest } from './running-platform.ts';

const directory = new URL('../../../libs/testing/samples/', import.meta.url);
const samples = readdirSync(directory).filter((name) => name.endsWith('.json'));
const readServiceRequest = createServiceRequestReader(defaultNamespaces);

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
}, 60_000);
afterAll(() => platform.stop());

async function launch(name: string) {
  const payload = JSON.parse(readFileSync(new URL(name, directory), 'utf8'));
  payload.identifier[0].value = randomUUID();
  const pms = createPmsClient({
    baseUrl: platform.url,
    tokenUrl: `${platform.url}/idp/demo/oauth2/v2.0/token`,
    clientId: 'pms-demo',
    clientSecret: 'pms-demo-secret',
    scope: 'api://clinical-launch/.default',
  });
  const { url } = await pms.requestLaunch(payload);
  const browser = new Browser();
  return { browser, page: await browser.open(url), reading: readServiceRequest(payload) };
}

it.each(samples)('%s is accepted and can be launched', async (name) => {
  const { page, reading } = await launch(name);
  expect(page.status).toBe(200);
  if (!('request' in reading)) throw new Error('the sample has faults');
  // The banner writes the name as it was sent, whatever characters it has.
  expect(plainText(page.html)).toContain(reading.request.patient.name.family);
});

describe('an action that is not offered yet', () => {
  const others = samples.filter((name) => /^0[2-8]-/.test(name));

  it.each(others)('%s: the page says so, and nothing can be ordered or read there', async (name) => {
    const { page, reading } = await launch(name);
    if (!('request' in reading)) throw new Error('the sample has faults');
    expect(page.html).toContain(`This system does not offer ${reading.request.action} yet`);
    expect(page.html).not.toMatch(/<form|<iframe|<textarea/);
  });

  it('is each of the seven beside OrderTest', () => expect(others).toHaveLength(7));
});

describe('a submitted order', () => {
  const orders = samples.filter((name) => /^(01|09|11|12)-/.test(name));

  it.each(orders)('of %s comes back as valid XML with the names character for character', async (name) => {
    const { browser, page, reading } = await launch(name);
    if (!('request' in reading)) throw new Error('the sample has faults');
    const { patient, requester } = reading.request;
    const [, code = ''] = /name="test" type="checkbox" value="([^"]+)"/.exec(page.html) ?? [];
    const review = await browser.open(page.url, new URLSearchParams({ test: code, action: 'review' }));
    const [, version = ''] = /name="version" value="([^"]*)"/.exec(review.html) ?? [];
    const result = await browser.open(review.url, new URLSearchParams({ version, action: 'submit' }));
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
