import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import {
  type Action,
  type LaunchContext,
  navigationChallenge,
} from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { aServiceRequest, containedAt } from '@clinical-launch/testing/service-request';
import { postWithTwoAuthorizations } from '@clinical-launch/testing/two-authorizations';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { codeChallenge, faultsOf, startLaunchApi } from './launch-api.ts';

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let api: Awaited<ReturnType<typeof startLaunchApi>>;
beforeAll(async () => {
  api = await startLaunchApi();
});
afterAll(() => api.stop());

const redeem = (url: string, proofs: string[], tickets: Tickets = api.tickets) =>
  tickets.redeem('launch-token', new URL(url).searchParams.get('launchToken') ?? '', {
    proofs,
    events: [],
  });

async function urlOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  const answer = (await response.json()) as Record<string, unknown>;
  expect(Object.keys(answer)).toEqual(['url']);
  return String(answer.url);
}

describe('RequestLaunchUrl', () => {
  it('answers 200 with only the URL {oltr_server}/secureLaunch?launchToken=<launch_token>', async () => {
    const response = await api.post();
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await urlOf(response)).toMatch(
      /^https:\/\/oltr\.example\/secureLaunch\?launchToken=[A-Za-z0-9_-]{43,}$/,
    );
  });

  it('stores the challenge and the supported elements of the payload with the token', async () => {
    const response = await api.post({
      payload: aServiceRequest({ originatingId: 'HS-1', action: 'PatientReportList' }),
    });
    const redemption = await redeem(await urlOf(response), [codeChallenge]);
    if (redemption.outcome !== 'redeemed') throw new Error(redemption.outcome);
    const { launchId, client, request } = redemption.context as LaunchContext;
    expect(launchId).toBe(response.headers.get('x-correlation-id'));
    expect(client).toMatchObject({ issuer: api.issuer.issuer, clientId: 'pms', frameAncestors: [] });
    expect(request).toMatchObject({ action: 'PatientReportList', originatingId: 'HS-1' });
  });

  it('stores the launchErrorPage of the client with the token for an hour', async () => {
    const launchErrorPage = 'https://pms.example/refused';
    const own = await startLaunchApi({ policies: { pms: { launchErrorPage } } });
    try {
      const refusal = async (clientId: string) => {
        const token = await own.issuer.sign({ claims: { client_id: clientId } });
        const url = await urlOf(await own.post({ token }));
        const launchToken = new URL(url).searchParams.get('launchToken') ?? '';
        const redeem = () => own.tickets.redeem('launch-token', launchToken, { events: [] });
        const mismatch = await redeem();
        own.clock.advance({ seconds: 3599 });
        const expired = await redeem();
        own.clock.advance({ seconds: 1 });
        return [mismatch, expired, await redeem()];
      };
      const notice = { errorPage: launchErrorPage };
      expect(await refusal('pms')).toEqual([
        { outcome: 'mismatch', correlationId: expect.any(String), notice },
        { outcome: 'unknown', notice },
        { outcome: 'unknown' },
      ]);
      expect(await refusal('other')).toEqual([
        { outcome: 'mismatch', correlationId: expect.any(String) },
        { outcome: 'unknown' },
        { outcome: 'unknown' },
      ]);
    } finally {
      await own.stop();
    }
  });

  it('stores a challenge that only a navigation proves, if the client requires navigations', async () => {
    const own = await startLaunchApi({ policies: { pms: { requireNavigation: true } } });
    try {
      const url = await urlOf(await own.post());
      expect(await redeem(url, [codeChallenge], own.tickets)).toMatchObject({
        outcome: 'mismatch',
        notice: { requiresNavigation: true },
      });
      const proofs = [codeChallenge, navigationChallenge(codeChallenge)];
      expect(await redeem(url, proofs, own.tickets)).toMatchObject({ outcome: 'redeemed' });
    } finally {
      await own.stop();
    }
  });

  it('stores only the first prefix of a name, and only the family name of an old name', async () => {
    const name = [
      { use: 'usual', prefix: ['Prof.', 'Dr'], family: 'Whitfield', given: ['Margaret'] },
      { use: 'old', prefix: ['Miss'], family: 'Pemberton', given: ['Peggy'] },
    ];
    const response = await api.post({ payload: aServiceRequest({ patient: { name } }) });
    const redemption = await redeem(await urlOf(response), [codeChallenge]);
    if (redemption.outcome !== 'redeemed') throw new Error(redemption.outcome);
    const { patient } = (redemption.context as LaunchContext).request;
    expect(patient).toMatchObject({
      name: { title: 'Prof.', family: 'Whitfield', given: ['Margaret'] },
      previousFamilyName: 'Pemberton',
    });
    expect(JSON.stringify(redemption.context)).not.toMatch(/Miss|Peggy/);
  });

  it("accepts a clinician's address of any use, but does not store it", async () => {
    const address = [{ use: 'work', type: 'postal', line: ['1 Surgery Row'] }];
    const response = await api.post({ payload: aServiceRequest({ clinician: { address } }) });
    const redemption = await redeem(await urlOf(response), [codeChallenge]);
    expect(redemption.outcome).toBe('redeemed');
    expect(JSON.stringify(redemption)).not.toContain('Surgery Row');
  });

  it('does not allow pages in browsers to call it (CORS)', async () => {
    const headers = {
      Origin: 'https://pms.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization, code-challenge, content-type',
    };
    const preflight = await fetch(api.url, { method: 'OPTIONS', headers });
    const posted = await api.post({ headers: { Origin: 'https://pms.example' } });
    expect([preflight.status, posted.status]).toEqual([405, 200]);
    for (const response of [preflight, posted]) {
      const allowed = [...response.headers.keys()].filter((header) => header.startsWith('access-control-'));
      expect(allowed).toEqual([]);
    }
  });

  it('returns a new GUID in X-Correlation-Id, whatever the caller sends', async () => {
    const mine = '11111111-1111-4111-8111-111111111111';
    const responses = await Promise.all(
      [1, 2].map(() => api.post({ headers: { 'X-Correlation-Id': mine } })),
    );
    const ids = responses.map(({ headers }) => headers.get('x-correlation-id') ?? '');
    expect(ids[0]).toMatch(guid);
    expect(new Set([...ids, mine]).size).toBe(3);
  });

  it('is counted by client if it issued a launch URL, and otherwise by reason', async () => {
    const measured = startMeasuring();
    const own = await startLaunchApi();
    for (const request of [{}, { body: '{}' }, { token: 'a.b.c' }]) await own.post(request);
    expect(await measured.read('clinical_launch.launches.issued')).toEqual({ pms: 1 });
    expect(await measured.read('clinical_launch.launches.refused')).toEqual({
      'pms invalid_payload request': 1,
      'unknown invalid_token request': 1,
    });
    await own.stop();
    measured.stop();
  });

  it('returns a launch URL that expires after ten seconds', async () => {
    const [late, inTime] = [await urlOf(await api.post()), await urlOf(await api.post())];
    api.clock.advance({ seconds: 9.999 });
    expect(await redeem(inTime, [codeChallenge])).toMatchObject({ outcome: 'redeemed' });
    api.clock.advance({ seconds: 0.001 });
    expect(await redeem(late, [codeChallenge])).toEqual({ outcome: 'unknown' });
  });

  const samples = new URL('../../../libs/testing/samples/', import.meta.url);
  it.each(readdirSync(samples).filter((name) => name.endsWith('.json')))(
    'accepts the sample %s',
    async (name) => {
      const response = await api.post({ body: readFileSync(new URL(name, samples)) });
      expect(response.status).toBe(200);
    },
  );
});

describe('a request with two Authorization headers', () => {
  it('is refused, because a proxy may have checked a different header than the service reads', async () => {
    const { status, body } = await postWithTwoAuthorizations(api.url, {
      authorization: `Bearer ${await api.issuer.sign()}`,
      contentType: 'application/json',
      body: JSON.stringify(aServiceRequest()),
    });
    expect([status, JSON.parse(body)]).toMatchObject([400, { errors: [{ path: 'Authorization' }] }]);
  });
});

describe('the code challenge', () => {
  const other = createHash('sha256').update('another').digest('base64url');
  const none = { 'Code-Challenge': '' };
  const withField = (name: string, value: unknown = codeChallenge) => ({
    ...aServiceRequest(),
    [name]: value,
  });

  it.each([
    ['header Code-Challenge', {}],
    ['header X-Code-Challenge', { headers: { ...none, 'X-Code-Challenge': codeChallenge } }],
    ['header codeChallenge', { headers: { ...none, codeChallenge } }],
    ['query codeChallenge', { headers: none, query: `?codeChallenge=${codeChallenge}` }],
    ['query code_challenge', { headers: none, query: `?code_challenge=${codeChallenge}` }],
    ['body field codeChallenge', { headers: none, payload: () => withField('codeChallenge') }],
    ['body field code_challenge', { headers: none, payload: () => withField('code_challenge') }],
    ['the same value in two places', { query: `?code_challenge=${codeChallenge}` }],
    [
      'a header sent twice with one value',
      { headers: { 'Code-Challenge': `${codeChallenge}, ${codeChallenge}` } },
    ],
    ['the query with the method S256', { query: '?code_challenge_method=S256' }],
  ])(
    'is accepted: %s',
    async (_place, { payload, ...request }: { headers?: object; query?: string; payload?: () => object }) => {
      const response = await api.post({
        ...request,
        ...(payload === undefined ? {} : { payload: payload() }),
      } as object);
      expect(await redeem(await urlOf(response), [codeChallenge])).toMatchObject({ outcome: 'redeemed' });
    },
  );

  it.each([
    ['missing', { headers: none }],
    ['sent in two places with different values', { query: `?codeChallenge=${other}` }],
    [
      'sent twice in the query with different values',
      { headers: none, query: `?codeChallenge=${other}&codeChallenge=${codeChallenge}` },
    ],
    [
      'sent twice as a header with different values',
      { headers: { 'Code-Challenge': `${other}, ${codeChallenge}` } },
    ],
    ['of 42 characters', { headers: { 'Code-Challenge': codeChallenge.slice(1) } }],
    ['of 44 characters', { headers: { 'Code-Challenge': `${codeChallenge}A` } }],
    // The last character of 32 bytes in Base64URL has two zero bits at its end, so no
    // verifier has this challenge.
    [
      'of 43 characters with unused bits set',
      { headers: { 'Code-Challenge': `${codeChallenge.slice(0, -1)}B` } },
    ],
    ['padded', { headers: { 'Code-Challenge': `${codeChallenge}=` } }],
    ['Base64 but not Base64URL', { headers: { 'Code-Challenge': `+/${codeChallenge.slice(2)}` } }],
    ['sent as a number in the body', { headers: none, payload: () => withField('codeChallenge', 7) }],
  ])(
    'is refused with 400 if it is %s',
    async (_fault, { payload, ...request }: { headers?: object; query?: string; payload?: () => object }) => {
      const response = await api.post({
        ...request,
        ...(payload === undefined ? {} : { payload: payload() }),
      } as object);
      expect(response.status).toBe(400);
      expect(await faultsOf(response)).toMatchObject([{ path: 'Code-Challenge' }]);
    },
  );

  it('is refused with 400 if its method is not S256', async () => {
    const response = await api.post({ query: '?code_challenge_method=plain' });
    expect(response.status).toBe(400);
    expect(await faultsOf(response)).toEqual([{ path: 'code_challenge_method', message: 'must be S256' }]);
  });
});

describe("the caller's identifier (IdByCaller)", () => {
  const launch = (action: Parameters<typeof aServiceRequest>[0], token?: string) =>
    api.post({ payload: aServiceRequest(action), ...withoutUndefined({ token }) });

  it('is refused with 409 and a reason in a header after its first use', async () => {
    const first = await launch({ originatingId: 'once' });
    const second = await launch({ originatingId: 'once' });
    expect([first.status, second.status]).toEqual([200, 409]);
    expect([second.headers.get('launch-refusal'), await second.text()]).toEqual(['identifier_used', '']);
  });

  it('is the same identifier with blanks at its ends', async () => {
    const padded = await launch({ originatingId: 'padded \u200b' });
    const bare = await launch({ originatingId: 'padded' });
    expect([padded.status, bare.status]).toEqual([200, 409]);
  });

  it('is logged and audited when it is used again', async () => {
    await launch({ originatingId: 'told' });
    const correlationId = (await launch({ originatingId: 'told' })).headers.get('x-correlation-id') ?? '';
    const logged = api.lines.filter((line) => line.includes(correlationId)).map((line) => JSON.parse(line));
    expect(logged).toContainEqual(expect.objectContaining({ status: 409, code: 'identifier_used' }));
    const reported = api.published.filter((event) => event.correlationid === correlationId);
    expect(reported).toMatchObject([
      { type: 'launch.url.refused.v1', data: { status: 409, reason: 'identifier_used', clientId: 'pms' } },
    ]);
  });

  it('is accepted in only one of several simultaneous requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => launch({ originatingId: 'together' })),
    );
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
  });

  it('may be used by two clients', async () => {
    const token = await api.issuer.sign({ claims: { client_id: 'other' } });
    const statuses = [
      await launch({ originatingId: 'shared' }),
      await launch({ originatingId: 'shared' }, token),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
  });

  it.each(['UpdateTest', 'PatientSampleQueue', 'PatientReport'] as const)(
    'may be used by %s any number of times after an OrderTest used it',
    async (action) => {
      const originatingId = `order-for-${action}`;
      await launch({ originatingId });
      const repeats = [await launch({ originatingId, action }), await launch({ originatingId, action })];
      expect(repeats.map(({ status }) => status)).toEqual([200, 200]);
      expect((await launch({ originatingId })).status).toBe(409);
    },
  );

  const opening = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'] as const;
  it.each(opening.flatMap((first) => opening.map((second) => [first, second] as const)))(
    'of a request that was ordered elsewhere may be used by %s and then by %s, but not by OrderTest',
    async (first, second) => {
      const originatingId = `elsewhere-${first}-${second}`;
      const statuses = [];
      for (const action of [first, second, 'OrderTest', first, second] as const)
        statuses.push((await launch({ originatingId, action })).status);
      expect(statuses).toEqual([200, 200, 409, 200, 200]);
    },
  );

  it('of a request that was ordered elsewhere may be used by several simultaneous requests', async () => {
    const launches = Array.from({ length: 4 }, () =>
      opening.map((action) => launch({ originatingId: 'elsewhere', action })),
    );
    const statuses = (await Promise.all(launches.flat())).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it.each(['PatientRequestList', 'LocationSampleQueue', 'PatientReportList', 'LocationReportList'] as const)(
    'cannot be used by %s after an OrderTest used it, nor by OrderTest and UpdateTest after itself',
    async (action) => {
      const statusOf = async (next: Action, originatingId: string) =>
        (await launch({ originatingId, action: next })).status;
      const [ordered, listed] = [`order-not-for-${action}`, `used-by-${action}`];
      expect([await statusOf('OrderTest', ordered), await statusOf(action, ordered)]).toEqual([200, 409]);
      expect(await statusOf(action, listed)).toBe(200);
      expect([await statusOf('OrderTest', listed), await statusOf('UpdateTest', listed)]).toEqual([409, 409]);
    },
  );

  it('stays usable after a refused request', async () => {
    const refused = await launch({ originatingId: 'mended', authoredOn: '2023-02-29T10:00:00Z' });
    const mended = await launch({ originatingId: 'mended' });
    expect([refused.status, mended.status]).toEqual([400, 200]);
  });

  it('can be used again after the retention period', async () => {
    await launch({ originatingId: 'kept' });
    api.clock.advance({ seconds: 400 * 86_400 - 1 });
    const kept = await launch({ originatingId: 'kept' });
    api.clock.advance({ seconds: 1 });
    const freed = await launch({ originatingId: 'kept' });
    expect([kept.status, freed.status]).toEqual([409, 200]);
  });
});

describe('an invalid request', () => {
  it('is answered with all its errors and the correlation id', async () => {
    const payload = aServiceRequest({
      authoredOn: 'yesterday',
      patient: { birthDate: '1958-02-30', gender: 'F', identifier: undefined },
      practice: { name: undefined },
    });
    const response = await api.post({ payload });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const problem = (await response.json()) as { errors: { path: string }[] };
    expect(problem).toMatchObject({ status: 400, correlationId: response.headers.get('x-correlation-id') });
    expect(problem.errors.map(({ path }) => path).toSorted()).toEqual([
      'authoredOn',
      `${containedAt.patient}.birthDate`,
      `${containedAt.patient}.gender`,
      `${containedAt.patient}.identifier`,
      `${containedAt.practice}.name`,
    ]);
  });

  it('is answered with the errors of the challenge and the payload together', async () => {
    const response = await api.post({
      payload: aServiceRequest({ authoredOn: 'today' }),
      headers: { 'Code-Challenge': 'x' },
    });
    expect((await faultsOf(response)).map(({ path }) => path)).toEqual(['Code-Challenge', 'authoredOn']);
  });

  it('is answered with 400, not 409, even if its identifier was already used', async () => {
    const originatingId = 'used-and-faulty';
    const first = await api.post({ payload: aServiceRequest({ originatingId }) });
    const faulty = await api.post({ payload: aServiceRequest({ originatingId, authoredOn: 'today' }) });
    expect([first.status, faulty.status]).toEqual([200, 400]);
    expect(await faultsOf(faulty)).toMatchObject([{ path: 'authoredOn' }]);
  });

  it('is answered with an OperationOutcome and FHIRPath expressions for Accept: application/fhir+json', async () => {
    const response = await api.post({
      payload: aServiceRequest({ patient: { birthDate: 'x' } }),
      headers: { Accept: 'application/fhir+json' },
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
    expect(await response.json()).toMatchObject({
      resourceType: 'OperationOutcome',
      id: response.headers.get('x-correlation-id'),
      issue: [{ severity: 'error', expression: [`ServiceRequest.${containedAt.patient}.birthDate`] }],
    });
  });

  const deep = (depth: number) => `{"extra":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  it.each([
    ['text that is not JSON', '{"resourceType":'],
    ['an empty body', ''],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])],
    ['a repeated member', '{"resourceType":"ServiceRequest","resourceType":"Patient"}'],
    ['a repeated member in another spelling', '{"id":"a","\\u0069d":"b"}'],
    ['40,000 levels of nesting', deep(40_000)],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"ServiceRequest"'],
  ])('is answered with 400 for %s', async (_fault, body) => {
    const response = await api.post({ body });
    expect(response.status).toBe(400);
    // The path is empty, because the fault is not in a member of the body.
    expect(await faultsOf(response)).toContainEqual({ path: '', message: expect.any(String) });
  });

  it('is answered with 400 for a member __proto__, whose content is ignored', async () => {
    const response = await api.post({ body: '{"__proto__":{"resourceType":"ServiceRequest"}}' });
    expect(response.status).toBe(400);
    expect(await faultsOf(response)).toContainEqual({
      path: 'resourceType',
      message: 'is required: ServiceRequest',
    });
  });

  it('is answered with the allowed values of a missing member', async () => {
    const patient = { name: [{ family: 'Baker' }], gender: undefined, address: [{ type: 'physical' }] };
    const response = await api.post({ payload: aServiceRequest({ patient }) });
    const at = containedAt.patient;
    expect(await faultsOf(response)).toEqual([
      { path: `${at}.gender`, message: 'is required: one of male, female, other, unknown' },
      { path: `${at}.name[0].use`, message: 'is required: one of usual, old' },
      { path: `${at}.address[0].use`, message: 'is required: home' },
    ]);
  });

  it('is answered with the supported systems for an identifier without a system', async () => {
    const identifier = [{ value: 'G8134567' }];
    const response = await api.post({ payload: aServiceRequest({ clinician: { identifier } }) });
    expect(await faultsOf(response)).toEqual([
      {
        path: `${containedAt.clinician}.identifier[0].system`,
        message: expect.stringMatching(/^is required: one of \S+professional-code, \S+local-staff-code$/),
      },
    ]);
  });

  it('leaves no patient data of the payload in answers, logs and events', async () => {
    const patient = { name: [{ use: 'usual', family: 'Zyxwvut', given: ['Qponmlk'] }], birthDate: 'Zyxwvut' };
    const response = await api.post({ payload: aServiceRequest({ patient }) });
    expect(response.status).toBe(400);
    const correlationId = response.headers.get('x-correlation-id') ?? '';
    const everything = [await response.text(), ...api.lines, JSON.stringify(api.published)].join('\n');
    expect(everything).not.toMatch(/Zyxwvut|Qponmlk|9434765919|Harbour Lane/);
    const refused = api.published.filter((event) => event.correlationid === correlationId);
    expect(refused).toMatchObject([
      {
        type: 'launch.url.refused.v1',
        data: {
          status: 400,
          clientId: 'pms',
          paths: [`${containedAt.patient}.birthDate`],
          user: { username: expect.any(String), name: expect.any(String) },
          practice: { code: expect.any(String), name: expect.any(String) },
          address: '127.0.0.1',
        },
      },
    ]);
    expect(api.lines.filter((line) => line.includes(correlationId)).join()).toMatch(/birthDate/);
  });
});

describe('a server error', () => {
  const failing = async (environment: Record<string, string>) => {
    const own = await startLaunchApi({ environment });
    own.tickets.issue = () => Promise.reject(new Error('Whitfield was not kept'));
    const response = await own.post();
    const text = await response.text();
    await own.stop();
    return { response, text, correlationId: response.headers.get('x-correlation-id') };
  };

  it('is answered with the correlation id in the body, without details', async () => {
    const { response, text, correlationId } = await failing({});
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ status: 500, correlationId });
    expect(text).not.toContain('Whitfield');
  });

  it('is answered in production with the correlation id only in the header', async () => {
    const { response, text, correlationId } = await failing({
      NODE_ENV: 'production',
      PATIENT_PSEUDONYM_KEY: randomBytes(32).toString('base64url'),
    });
    expect([response.status, text]).toEqual([500, '']);
    expect(correlationId).toMatch(guid);
  });
});

describe('the endpoint', () => {
  it('answers 413 to a body over the size limit, before parsing the body', async () => {
    expect((await api.post({ body: ' '.repeat(262_145) })).status).toBe(413);
  });

  it.each([
    [{ 'Content-Type': 'text/plain' }],
    [{ 'Content-Type': 'application/x-www-form-urlencoded' }],
    [{ 'Content-Type': 'application/json; charset=iso-8859-1' }],
    [{ 'Content-Encoding': 'gzip' }],
  ])('answers 415 to %j', async (headers) => {
    expect((await api.post({ headers, body: '{}' })).status).toBe(415);
  });

  it('accepts application/fhir+json and the charset utf-8', async () => {
    const statuses = [
      await api.post({ headers: { 'Content-Type': 'application/fhir+json' } }),
      await api.post({ headers: { 'Content-Type': 'application/json; charset=UTF-8' } }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('answers 405 with Allow to methods other than POST, and 404 to other spellings of the path', async () => {
    const got = await fetch(api.url);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    for (const url of [api.url.toLowerCase(), `${api.url}/`]) {
      expect((await fetch(url, { method: 'POST' })).status).toBe(404);
    }
  });
});

describe('rate limits', () => {
  it('apply to each client: with a limit of five, the sixth request in a second is answered with 429', async () => {
    const limited = await startLaunchApi({ policies: { pms: { requestsPerSecond: 5 } } });
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await limited.post()).status);
    const refused = await limited.post();
    const other = await limited.post({
      token: await limited.issuer.sign({ claims: { client_id: 'other' } }),
    });
    limited.clock.advance({ seconds: 1 });
    const later = await limited.post();
    await limited.stop();
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect([refused.status, refused.headers.get('retry-after'), other.status, later.status]).toEqual([
      429,
      '1',
      200,
      200,
    ]);
  });

  it('cause a log line for each refused request but no event, so that many requests do not cause many events', async () => {
    const limited = await startLaunchApi({ policies: { pms: { requestsPerSecond: 1 } } });
    const statuses = [(await limited.post()).status, (await limited.post()).status];
    await limited.stop();
    expect(statuses).toEqual([200, 429]);
    expect(limited.published.map(({ type }) => type)).toEqual(['launch.url.issued.v1']);
    expect(limited.lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ status: 429, code: 'too_many_requests' }),
    );
  });
});

describe('the configuration', () => {
  it('sets the namespaces that the payload must use', async () => {
    const namespaces = { fhir: 'urn:a:fhir', nhs: 'urn:a:nhs', hl7uk: 'urn:a:hl7uk' };
    const environment = { FHIR_NS: namespaces.fhir, NHS_NS: namespaces.nhs, HL7UK_NS: namespaces.hl7uk };
    const own = await startLaunchApi({ environment });
    const statuses = [
      (await own.post({ payload: aServiceRequest({ namespaces }) })).status,
      (await own.post({ payload: aServiceRequest() })).status,
    ];
    await own.stop();
    expect(statuses).toEqual([200, 400]);
  });

  it('may shorten the ten seconds of a launch URL', async () => {
    const own = await startLaunchApi({ environment: { LAUNCH_TOKEN_SECONDS: '3' } });
    try {
      const [inTime, late] = [await urlOf(await own.post()), await urlOf(await own.post())];
      const outcomeOf = async (url: string) => (await redeem(url, [codeChallenge], own.tickets)).outcome;
      own.clock.advance({ seconds: 2.999 });
      expect(await outcomeOf(inTime)).toBe('redeemed');
      own.clock.advance({ seconds: 0.001 });
      expect(await outcomeOf(late)).toBe('unknown');
      expect(own.published.map(({ data }) => data)).toMatchObject([{ ttlSeconds: 3 }, { ttlSeconds: 3 }]);
    } finally {
      await own.stop();
    }
  });

  it.each(['0', '11', '2.5'])(
    'cannot set the lifetime of a launch URL to %s seconds: the service does not start',
    async (seconds) => {
      const environment = { LAUNCH_TOKEN_SECONDS: seconds };
      await expect(startLaunchApi({ environment })).rejects.toThrow(/LAUNCH_TOKEN_SECONDS must be/);
    },
  );
});
