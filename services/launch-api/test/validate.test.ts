import type { LaunchPolicy } from '@clinical-launch/contracts/registry';
import { aServiceRequest, containedAt } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startLaunchApi, wholeFaultsOf } from './launch-api.ts';

const practices: LaunchPolicy['practices'] = [{ system: 'ods-organization-code', code: 'B82017' }];

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi({ policies: { pms: { practices } } });
});
afterAll(() => api.stop());

type Posted = NonNullable<Parameters<typeof api.post>[0]>;

/** Returns the answers of Validate and RequestLaunchUrl to one request, in this order. */
const both = async (request: Posted) => [
  await api.post({ ...request, to: 'Validate' }),
  await api.post({ ...request, to: 'RequestLaunchUrl' }),
];

describe('POST /AccessApi/Validate', () => {
  it('answers 200 without errors to a request that RequestLaunchUrl would accept', async () => {
    const response = await api.post({ to: 'Validate' });
    expect([response.status, await response.json()]).toEqual([200, { errors: [] }]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('creates no launch token, stores no event and leaves the identifier free', async () => {
    const own = await startLaunchApi();
    const payload = aServiceRequest({ originatingId: 'checked-before' });
    let issued = 0;
    const issue = own.tickets.issue.bind(own.tickets);
    own.tickets.issue = (...issuing) => {
      issued += 1;
      return issue(...issuing);
    };
    const checks = [await own.post({ to: 'Validate', payload }), await own.post({ to: 'Validate', payload })];
    expect([checks.map(({ status }) => status), issued, own.published]).toEqual([[200, 200], 0, []]);
    const launches = [await own.post({ payload }), await own.post({ payload })];
    const after = await own.post({ to: 'Validate', payload });
    await own.stop();
    expect(launches.map(({ status }) => status)).toEqual([200, 409]);
    // Validate does not check whether the originating id was used.
    expect(after.status).toBe(200);
  });

  it.each<[string, Posted]>([
    ['faults of the payload', { payload: aServiceRequest({ authoredOn: 'x', patient: { birthDate: 'x' } }) }],
    ['no challenge', { headers: { 'Code-Challenge': '' } }],
    ['a challenge method that is not S256', { query: '?code_challenge_method=plain' }],
    ['a body that is not JSON', { body: '{"resourceType":\n "ServiceRequest",}' }],
    [
      'a practice that is not agreed',
      {
        payload: aServiceRequest({
          practice: {
            identifier: [{ system: 'https://fhir.nhs.uk/Id/ods-organization-code', value: 'X99999' }],
          },
        }),
      },
    ],
  ])('returns the same errors as RequestLaunchUrl for %s', async (_what, request) => {
    const [checked, requested] = await both(request);
    expect([checked?.status, requested?.status]).toEqual([400, 400]);
    const faults = checked === undefined ? [] : await wholeFaultsOf(checked);
    expect(faults).not.toEqual([]);
    expect(requested && (await wholeFaultsOf(requested))).toEqual(faults);
  });

  it.each<[number, () => Promise<Posted>]>([
    [401, async () => ({ token: 'a.b.c' })],
    [403, async () => ({ token: await api.issuer.sign({ claims: { scope: 'another' } }) })],
    [413, async () => ({ body: ' '.repeat(262_145) })],
    [415, async () => ({ headers: { 'Content-Type': 'text/plain' } })],
  ])('answers %i to the same requests as RequestLaunchUrl', async (status, request) => {
    const answers = await both(await request());
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    const [checked, requested] = await Promise.all(answers.map((answer) => answer.text()));
    const withoutId = (body = '') => body.replace(/"correlationId":"[^"]*"/, '');
    expect(withoutId(checked)).toBe(withoutId(requested));
  });

  it('shares the rate limit of a client with RequestLaunchUrl', async () => {
    const limited = await startLaunchApi({ policies: { pms: { requestsPerSecond: 2 } } });
    const statuses = [];
    for (const to of ['Validate', 'RequestLaunchUrl', 'Validate', 'RequestLaunchUrl'] as const)
      statuses.push((await limited.post({ to })).status);
    await limited.stop();
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  it('marks its refusals in the audit trail with the step `validate`', async () => {
    const answers = await both({ payload: aServiceRequest({ patient: { birthDate: 'x' } }) });
    const reported = answers.map(({ headers }) =>
      api.published.find((event) => event.correlationid === headers.get('x-correlation-id')),
    );
    const data = { status: 400, reason: 'invalid_payload', paths: [`${containedAt.patient}.birthDate`] };
    expect(reported).toMatchObject([
      { type: 'launch.url.refused.v1', data: { ...data, clientId: 'pms', step: 'validate' } },
      { type: 'launch.url.refused.v1', data },
    ]);
    expect(reported[1]?.data).not.toHaveProperty('step');
  });

  it('accepts only POST', async () => {
    const response = await fetch(api.url.replace('RequestLaunchUrl', 'Validate'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('an error in a 400 response', () => {
  it('contains its code and, if the error is in a FHIR resource, that resource', async () => {
    const response = await api.post({
      payload: aServiceRequest({ patient: { birthDate: undefined } }),
      headers: { 'Code-Challenge': '' },
    });
    expect(await wholeFaultsOf(response)).toEqual([
      { path: 'Code-Challenge', message: expect.any(String), code: 'required' },
      {
        path: `${containedAt.patient}.birthDate`,
        message: 'is required',
        code: 'required',
        resource: 'Patient #patient',
      },
    ]);
  });

  it('becomes an issue with its code and resource in an OperationOutcome', async () => {
    const response = await api.post({
      payload: aServiceRequest({ patient: { birthDate: undefined } }),
      headers: { 'Code-Challenge': 'x', Accept: 'application/fhir+json' },
    });
    const path = `${containedAt.patient}.birthDate`;
    expect(await response.json()).toMatchObject({
      issue: [
        { code: 'value', location: ['http.Code-Challenge'] },
        {
          code: 'required',
          details: { text: `Patient #patient: ${path} is required` },
          expression: [`ServiceRequest.${path}`],
        },
      ],
    });
  });

  it('contains the line and column if the body is not JSON, but no part of the body', async () => {
    const response = await api.post({ body: '{\n  "family": Whitfield\n}' });
    const [fault] = await wholeFaultsOf(response);
    expect(fault).toEqual({
      path: '',
      message: 'The body is not JSON: a value is required, at line 2, column 13',
      code: 'structure',
    });
    expect([...api.lines, JSON.stringify(api.published)].join()).not.toContain('Whitfield');
  });

  it('is logged and published without the id of its resource', async () => {
    const payload = JSON.stringify(aServiceRequest({ patient: { gender: 'F' } }));
    const response = await api.post({ body: payload.replaceAll('patient"', 'Whitfield-1958"') });
    expect(await wholeFaultsOf(response)).toMatchObject([{ resource: 'Patient #Whitfield-1958' }]);
    expect([...api.lines, JSON.stringify(api.published)].join()).not.toContain('Whitfield');
  });
});
