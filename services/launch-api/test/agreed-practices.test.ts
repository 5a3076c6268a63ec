import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import type { LaunchPolicy } from '@clinical-launch/contracts/registry';
import { aServiceRequest, containedAt } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { codeChallenge, faultsOf, startLaunchApi } from './launch-api.ts';

const { fhir, nhs } = defaultNamespaces;
const systems = {
  ods: `${nhs}/Id/ods-organization-code`,
  local: `${fhir}/Id/local-org-code`,
  performing: `${fhir}/Id/performing-org`,
};
const practices: LaunchPolicy['practices'] = [
  { system: 'ods-organization-code', code: 'b82017' },
  { system: 'local-org-code', code: 'Oak42 ' },
];

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ policies: { pms: { practices }, other: { practices: 'any' } } });
});
afterAll(() => api.stop());

const aPractice = (...identifier: { system: string; value: string }[]) => ({ identifier });
const practicePath = `${containedAt.practice}.identifier[0].value`;

/** Redeems a launch URL and returns the client in its launch context. */
async function clientOf(response: Response): Promise<LaunchContext['client']> {
  expect(response.status).toBe(200);
  const { url } = (await response.json()) as { url: string };
  const token = new URL(url).searchParams.get('launchToken') ?? '';
  const redemption = await api.tickets.redeem('launch-token', token, { proofs: [codeChallenge], events: [] });
  if (redemption.outcome !== 'redeemed') throw new Error(redemption.outcome);
  return (redemption.context as LaunchContext).client;
}

describe('the practice in a request of a client with a list of agreed practices', () => {
  it.each([
    ['an ODS code', systems.ods, 'B82017'],
    ['an ODS code in another case', systems.ods, 'b82017'],
    ['an ODS code with blanks at its ends', systems.ods, ' B82017\u00a0'],
    ['a local code', systems.local, 'Oak42'],
  ])(
    'is accepted if it is identified by %s, and the launch contains the agreed practices',
    async (_what, system, value) => {
      const payload = aServiceRequest({ practice: aPractice({ system, value }) });
      expect(await clientOf(await api.post({ payload }))).toMatchObject({
        practices: { 'ods-organization-code': ['B82017'], 'local-org-code': ['Oak42'] },
      });
    },
  );

  it.each([
    ['another ODS code', systems.ods, 'B82018'],
    ['a local code in another case', systems.local, 'oak42'],
    ['the code of another code set', systems.local, 'B82017'],
    ['the name of an inherited property', systems.local, 'constructor'],
  ])(
    'is refused with 400 and the path of its code if it is identified by %s',
    async (_what, system, value) => {
      const payload = aServiceRequest({ practice: aPractice({ system, value }) });
      const response = await api.post({ payload });
      expect(response.status).toBe(400);
      const body = await response.clone().text();
      expect(body).not.toContain(value);
      expect(await faultsOf(response)).toEqual([
        { path: practicePath, message: expect.stringContaining('agreed') },
      ]);
    },
  );

  it('is checked by its first supported identifier, which is also the identifier that the launch uses', async () => {
    const agreed = { system: systems.ods, value: 'B82017' };
    const foreign = { system: systems.local, value: '0042' };
    const unsupported = { system: 'urn:other', value: 'x' };
    const payload = (...identifier: { system: string; value: string }[]) =>
      aServiceRequest({ practice: aPractice(...identifier) });
    expect((await api.post({ payload: payload(unsupported, agreed) })).status).toBe(200);
    const refused = await faultsOf(await api.post({ payload: payload(unsupported, foreign) }));
    expect(refused.map(({ path }) => path)).toEqual([`${containedAt.practice}.identifier[1].value`]);
  });

  it('is reported together with all other errors if it is not agreed', async () => {
    const payload = aServiceRequest({
      practice: { ...aPractice({ system: systems.ods, value: 'X99999' }), name: undefined },
      patient: { birthDate: '1958-02-30' },
      authoredOn: 'yesterday',
    });
    const faults = await faultsOf(await api.post({ payload }));
    expect(faults.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        practicePath,
        'authoredOn',
        `${containedAt.patient}.birthDate`,
        `${containedAt.practice}.name`,
      ]),
    );
  });

  it.each([
    [{ toString: 1, valueOf: 1 }, 'B82017'],
    [systems.ods, { toString: 1 }],
    [null, null],
  ])('causes 400, never a server error, if its system is %j and its value is %j', async (system, value) => {
    const identifier = [{ system, value }] as unknown as { system: string; value: string }[];
    const response = await api.post({ payload: aServiceRequest({ practice: { identifier } }) });
    expect(response.status).toBe(400);
  });

  it('may be any practice if the registry allows the client any practice', async () => {
    const token = await api.issuer.sign({ claims: { client_id: 'other', azp: 'other' } });
    const payload = aServiceRequest({ practice: aPractice({ system: systems.local, value: '0042' }) });
    expect(await clientOf(await api.post({ payload, token }))).not.toHaveProperty('practices');
  });
});
