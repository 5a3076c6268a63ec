import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import type { Json } from '@clinical-launch/testing/json-edit';
import { aServiceRequest, containedAt } from '@clinical-launch/testing/service-request';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { audience, startLaunchApi, wholeFaultsOf } from './launch-api.ts';

const { nhs, fhir } = defaultNamespaces;
const system = `${nhs}/Id/nhs-number`;
const real = { system, value: '9434765919' };
const synthetic = { system, value: '9990000018' };
const hospitalNumber = { system: `${fhir}/Id/hospital-number`, value: 'WH-0042317' };
const message = 'must begin with 999, because this client takes synthetic patients only';

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ policies: { pms: { sandbox: true }, other: { sandbox: false } } });
});
afterAll(() => api.stop());

const aRequestFor = (...identifier: Json[]) => aServiceRequest({ patient: { identifier } });

/** Posts one payload to both endpoints. Returns the statuses, and the errors of every 400. */
async function answersTo(payload: unknown) {
  const answers = [await api.post({ to: 'Validate', payload }), await api.post({ payload })];
  return {
    statuses: answers.map(({ status }) => status),
    faults: await Promise.all(answers.filter(({ status }) => status === 400).map(wholeFaultsOf)),
  };
}

describe('a request of a sandbox client', () => {
  it.each([
    ['an NHS number that begins with 999', [synthetic]],
    ['such a number with spaces', [{ system, value: '999 000 0018' }]],
    ['no NHS number', [hospitalNumber]],
  ])('is accepted with %s', async (_what, identifiers) => {
    expect((await answersTo(aRequestFor(...identifiers))).statuses).toEqual([200, 200]);
  });

  it.each([
    ['another NHS number', [real], 0],
    ['another NHS number after a hospital number', [hospitalNumber, real], 1],
    ['999 inside the NHS number', [{ system, value: '943 999 0018' }], 0],
    ['999 behind another character', [{ system, value: '+9990000018' }], 0],
  ])(
    'is refused with %s, by Validate and by RequestLaunchUrl, with the path of the value',
    async (_what, identifiers, at) => {
      const fault = {
        path: `${containedAt.patient}.identifier[${at}].value`,
        message,
        code: 'business-rule',
        resource: 'Patient #patient',
      };
      const { statuses, faults } = await answersTo(aRequestFor(...identifiers));
      expect(statuses).toEqual([400, 400]);
      expect(faults).toEqual([[fault], [fault]]);
    },
  );

  it('is refused with one error for each NHS number, also in resources without a reference to them', async () => {
    const valid = aRequestFor(real, real);
    const others = [
      { resourceType: 'Patient', id: 'other', identifier: [synthetic, real] },
      { resourceType: 'RelatedPerson', id: 'mother', identifier: [real] },
    ];
    const { faults } = await answersTo({ ...valid, contained: [...(valid.contained as Json[]), ...others] });
    for (const found of faults)
      expect(found.filter((fault) => fault.message === message).map(({ path }) => path)).toEqual([
        `${containedAt.patient}.identifier[0].value`,
        `${containedAt.patient}.identifier[1].value`,
        'contained[6].identifier[1].value',
        'contained[7].identifier[0].value',
      ]);
  });

  it('is refused with all errors together, and with one error for a value that is blank or not a string', async () => {
    const payload = aServiceRequest({ patient: { identifier: [real], birthDate: 'x' }, authoredOn: 'x' });
    const [, faults = []] = (await answersTo(payload)).faults;
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      'authoredOn',
      `${containedAt.patient}.birthDate`,
      `${containedAt.patient}.identifier[0].value`,
    ]);
    for (const value of [9434765919, ' ', null]) {
      const refused = await answersTo(aRequestFor({ system, value }));
      expect(refused.faults.map((found) => found.length)).toEqual([1, 1]);
    }
  });

  it('leaves no NHS number in the answer, the log or the audit trail', async () => {
    const response = await api.post({ payload: aRequestFor(real) });
    const event = api.published.findLast(({ type }) => type === 'launch.url.refused.v1');
    expect(event?.data).toMatchObject({
      paths: [`${containedAt.patient}.identifier[0].value`],
      codes: ['business-rule'],
    });
    const written = [await response.text(), ...api.lines, JSON.stringify(api.published)].join();
    expect(written).not.toContain(real.value);
  });

  it('is checked in the same way if a trusted issuer issues its tokens', async () => {
    const issuer = await startTokenIssuer({ clock: api.clock, audience });
    const clients = [{ clientId: 'pms', sandbox: true }, { clientId: 'other' }];
    const own = await startLaunchApi({ trustedIssuers: [{ issuer: issuer.issuer, clients }] });
    const statusFor = async (clientId: string, identifier: Json) =>
      (
        await own.post({
          payload: aRequestFor(identifier),
          token: await issuer.sign({ claims: { client_id: clientId, azp: clientId } }),
        })
      ).status;
    const statuses = [
      await statusFor('pms', synthetic),
      await statusFor('pms', real),
      await statusFor('other', real),
    ];
    await own.stop();
    await issuer.stop();
    expect(statuses).toEqual([200, 400, 200]);
  });
});

it('a request of another client is accepted with any NHS number', async () => {
  const token = await api.issuer.sign({ claims: { client_id: 'other', azp: 'other' } });
  for (const identifier of [real, synthetic])
    expect((await api.post({ payload: aRequestFor(identifier), token })).status).toBe(200);
});
