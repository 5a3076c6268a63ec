import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { startLaunchApi } from './launch-api.ts';

const documents = [
  ['openapi.json', 'application/json; charset=utf-8'],
  ['schemas/service-request.json', 'application/schema+json; charset=utf-8'],
  ['schemas/order.xsd', 'application/xml; charset=utf-8'],
];

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ environment: { XML_NS: 'urn:other:order', FHIR_NS: 'https://fhir.other' } });
});
afterAll(() => api.stop());

const get = (name: string, init: RequestInit = {}, { url } = api) => fetch(new URL(name, url), init);

describe('the published document', () => {
  it.each(documents)('%s is public and can be cached for five minutes', async (name, type) => {
    const response = await get(name);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await response.text()).length).toBeGreaterThan(1000);
  });

  it.each(documents)('%s answers HEAD with 200, and other methods with 405', async (name) => {
    const head = await get(name, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const put = await get(name, { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

it('the launch API publishes the schema of the payload with its own address and the configured namespaces', async () => {
  const schema = (await (await get('schemas/service-request.json')).json()) as { $id: string };
  expect(schema.$id).toBe('https://oltr.example/AccessApi/schemas/service-request.json');
  const accepts = new Ajv2020({ formats: { date: true, 'date-time': true } }).compile(schema);
  const namespaces = {
    fhir: 'https://fhir.other',
    nhs: 'https://fhir.nhs.uk',
    hl7uk: 'https://fhir.hl7.org.uk',
  };
  expect([accepts(aServiceRequest()), accepts(aServiceRequest({ namespaces }))]).toEqual([false, true]);
});

it('the launch API publishes the XML Schema of the order document in the configured namespace', async () => {
  expect(await (await get('schemas/order.xsd')).text()).toContain('targetNamespace="urn:other:order"');
});
