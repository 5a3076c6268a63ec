import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { aServiceRequest, containedAt } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startLaunchApi, wholeFaultsOf } from './launch-api.ts';

const url = `${defaultNamespaces.fhir}/extension/sign-in`;
const smartcard = 'urn:pms:acr:smartcard';

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ policies: { other: { acrValues: ['AAL2', smartcard] } } });
});
afterAll(() => api.stop());

type Part = { readonly url: string; readonly valueString?: unknown; readonly valueInstant?: unknown };

/** Requests a launch whose author signed in as the extension says. */
async function post(parts: readonly Part[], clientId = 'pms') {
  const extension = [{ url: 'https://pms.example/other' }, { url, extension: parts }];
  const payload = aServiceRequest({ author: { extension: JSON.parse(JSON.stringify(extension)) } });
  return api.post({ payload, token: await api.issuer.sign({ claims: { client_id: clientId } }) });
}

const instant = (secondsAgo: number) => new Date(api.clock.now() - secondsAgo * 1000).toISOString();

/** Returns the data of the event with the correlation id of an answer. */
const dataOf = ({ headers }: Response) =>
  api.published.find(({ correlationid }) => correlationid === headers.get('x-correlation-id'))?.data;

describe('the sign-in of the author', () => {
  it('is in the audit event of the launch', async () => {
    const response = await post([
      { url: 'acr', valueString: 'AAL3' },
      { url: 'amr', valueString: 'sc' },
      { url: 'amr', valueString: 'pin' },
      { url: 'auth_time', valueInstant: instant(600) },
      { url: 'device', valueString: 'ignored' },
    ]);
    expect(response.status).toBe(200);
    const authTime = Math.floor(api.clock.now() / 1000) - 600;
    expect(dataOf(response)).toMatchObject({ acr: 'AAL3', amr: ['sc', 'pin'], authTime });
  });

  it('is optional', async () => {
    const response = await api.post();
    expect(response.status).toBe(200);
    expect(Object.keys(dataOf(response) ?? {})).not.toContain('acr');
  });

  it.each<[string, Part, string, string]>([
    ['an unknown acr', { url: 'acr', valueString: 'AAL4' }, 'valueString', 'code-invalid'],
    ['an unknown method', { url: 'amr', valueString: 'password' }, 'valueString', 'code-invalid'],
    ['no value', { url: 'acr' }, 'valueString', 'required'],
    [
      'a time without an offset',
      { url: 'auth_time', valueInstant: '2026-01-01T10:00:00' },
      'valueInstant',
      'value',
    ],
  ])('is refused with %s', async (_what, part, member, code) => {
    const response = await post([{ url: 'amr', valueString: 'pwd' }, part]);
    expect(response.status).toBe(400);
    const path = `${containedAt.author}.extension[1].extension[1].${member}`;
    expect(await wholeFaultsOf(response)).toContainEqual(expect.objectContaining({ path, code }));
  });

  it('is refused with a time that is more than a minute in the future', async () => {
    expect((await post([{ url: 'auth_time', valueInstant: instant(-60) }])).status).toBe(200);
    const late = await post([{ url: 'auth_time', valueInstant: instant(-62) }]);
    const path = `${containedAt.author}.extension[1].extension[0].valueInstant`;
    expect(await wholeFaultsOf(late)).toEqual([expect.objectContaining({ path, code: 'value' })]);
  });

  it.each(['acr', 'amr', 'auth_time'])(
    'is refused with objects in the place of the texts of %s',
    async (url) => {
      const object = { toString: 1, valueOf: 1 };
      expect((await post([{ url, valueString: object, valueInstant: object }])).status).toBe(400);
    },
  );

  it('is refused if it contains acr twice', async () => {
    const repeated = await post([
      { url: 'acr', valueString: 'AAL1' },
      { url: 'acr', valueString: 'AAL3' },
    ]);
    const path = `${containedAt.author}.extension[1].extension[1]`;
    expect(await wholeFaultsOf(repeated)).toEqual([expect.objectContaining({ path, code: 'duplicate' })]);
  });

  it('may contain only the acr values that the registry lists for the client', async () => {
    const statusOf = async (acr: string, clientId: string) =>
      (await post([{ url: 'acr', valueString: acr }], clientId)).status;
    expect(await statusOf(smartcard, 'other')).toBe(200);
    expect(await statusOf('AAL3', 'other')).toBe(400);
    expect(await statusOf(smartcard, 'pms')).toBe(400);
  });
});
