import type { Fault } from '@clinical-launch/contracts/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RefusalAudit, textParameter } from '../src/endpoint.ts';
import { oauthDialect, ServiceError } from '../src/errors.ts';
import { serveRoutes } from './serve-routes.ts';

const named: Fault[] = [
  { path: 'contained[1].name[0].family', message: 'is required', code: 'required' },
  { path: '', message: 'The body is incomplete', code: 'structure' },
  { path: 'Code-Challenge', message: 'is required', code: 'required' },
];
const faults = named.map((fault, index) =>
  index === 0 ? { ...fault, resource: 'Patient #patient' } : fault,
);
const refusal = (status: number) =>
  new ServiceError({
    status,
    code: 'not_found',
    message: 'Correct the request and send it again',
    ...(status === 400 ? { faults } : {}),
    headers: { 'X-Reason': 'refused' },
    cause: new Error('the cause is for the log'),
  });
const defect = () => new TypeError('Whitfield is not iterable at /srv/secret.ts');

const aTokenRefused: RefusalAudit = ({ status, code }, { call }) =>
  call.event('launch.token.refused.v1', { status, reason: code });

const throwing = (create: () => Error) => ({
  GET: () => {
    throw create();
  },
});

const createRoutes: Parameters<typeof serveRoutes>[0] = (route) => {
  const oauth = { dialect: oauthDialect };
  return [
    route('/refused/:status', {
      GET: (exchange) => {
        throw refusal(Number(textParameter(exchange, 'status')));
      },
    }),
    route('/broken', throwing(defect)),
    route('/rejected', { GET: () => Promise.reject(defect()) }),
    route('/half', {
      GET({ response }) {
        response.write('the first half');
        throw defect();
      },
    }),
    route('/only', { GET: ({ response }) => void response.end() }),
    route(
      '/oauth/refused',
      throwing(
        () => new ServiceError({ status: 401, code: 'invalid_client', message: 'The client is not known' }),
      ),
      oauth,
    ),
    route('/oauth/broken', throwing(defect), oauth),
    route(
      '/oauth/faulty',
      throwing(
        () =>
          new ServiceError({
            status: 400,
            code: 'invalid_request',
            message: 'Correct the request and send it again',
            faults: [{ path: 'name[0]', message: 'is required', code: 'required' }],
          }),
      ),
      oauth,
    ),
    route(
      '/unaudited',
      throwing(() => refusal(401)),
      { ...oauth, audit: aTokenRefused },
    ),
  ];
};

let testing: Awaited<ReturnType<typeof serveRoutes>>;
let production: Awaited<ReturnType<typeof serveRoutes>>;
beforeAll(async () => {
  testing = await serveRoutes(createRoutes);
  production = await serveRoutes(createRoutes, { isProduction: true });
});
afterAll(async () => {
  await testing.stop();
  await production.stop();
});

async function get(path: string, { at = testing, accept = '*/*' } = {}) {
  const response = await fetch(`${at.url}${path}`, { headers: { Accept: accept } });
  const guid = response.headers.get('x-correlation-id');
  expect(guid).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return { response, guid, type: response.headers.get('content-type'), text: await response.text() };
}

describe('a refusal as problem+json (RFC 9457)', () => {
  it('contains the correlation id and every fault if the status is 400', async () => {
    const { response, guid, type, text } = await get('/refused/400');
    expect([response.status, type]).toEqual([400, expect.stringMatching(/^application\/problem\+json/)]);
    expect(response.headers.get('x-reason')).toBe('refused');
    expect(JSON.parse(text)).toEqual({
      type: 'about:blank',
      title: 'Correct the request and send it again',
      status: 400,
      correlationId: guid,
      errors: faults,
    });
  });

  it.each(['application/json', 'text/html', 'application/problem+json, application/fhir+json;q=0.5'])(
    'is sent to a client with Accept: %s',
    async (accept) => {
      expect((await get('/refused/400', { accept })).type).toMatch(/^application\/problem\+json/);
    },
  );

  it.each([413, 415, 503])('with the status %i contains a title that says what to do', async (status) => {
    const { response, guid, text } = await get(`/refused/${status}`);
    expect(response.status).toBe(status);
    expect(JSON.parse(text)).toMatchObject({
      title: 'Correct the request and send it again',
      status,
      correlationId: guid,
    });
  });

  it.each([401, 403, 404, 409, 410, 429])('has no body if the status is %i', async (status) => {
    for (const accept of ['*/*', 'application/fhir+json']) {
      const { response, text } = await get(`/refused/${status}`, { accept });
      expect([response.status, text]).toEqual([status, '']);
      expect(response.headers.get('x-reason')).toBe('refused');
      expect(response.headers.get('launch-refusal')).toBe('not_found');
    }
  });

  it('lists the supported methods in Allow if the method is not supported (405)', async () => {
    const response = await fetch(`${testing.url}/only`, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    await response.text();
  });

  it('has the status 400 if the path cannot be decoded', async () => {
    const { response } = await get('/refused/%ff');
    expect(response.status).toBe(400);
  });
});

describe('a refusal as OperationOutcome (FHIR R4)', () => {
  it('is sent to a client with Accept: application/fhir+json, and contains an issue for each fault', async () => {
    const { type, guid, text } = await get('/refused/400', { accept: 'application/fhir+json' });
    expect(type).toMatch(/^application\/fhir\+json/);
    expect(JSON.parse(text)).toEqual({
      resourceType: 'OperationOutcome',
      id: guid,
      issue: [
        {
          severity: 'error',
          code: 'required',
          details: { text: 'Patient #patient: contained[1].name[0].family is required' },
          diagnostics: 'is required',
          expression: ['ServiceRequest.contained[1].name[0].family'],
        },
        {
          severity: 'error',
          code: 'structure',
          details: { text: 'The body is incomplete' },
          diagnostics: 'The body is incomplete',
          expression: ['ServiceRequest'],
        },
        {
          severity: 'error',
          code: 'required',
          details: { text: 'Code-Challenge is required' },
          diagnostics: 'is required',
          location: ['http.Code-Challenge'],
        },
      ],
    });
  });

  it('contains an issue even if the error has no faults', async () => {
    for (const [status, code] of [
      [405, 'not-supported'],
      [413, 'too-long'],
      [415, 'not-supported'],
      [422, 'invalid'],
      [500, 'exception'],
      [503, 'transient'],
    ]) {
      const { text } = await get(`/refused/${status}`, { accept: 'application/fhir+json' });
      expect(JSON.parse(text)).toMatchObject({
        issue: [{ code, diagnostics: 'Correct the request and send it again' }],
      });
    }
  });
});

describe('a refusal in OAuth (RFC 6749 section 5.2)', () => {
  it('contains the error code and the correlation id', async () => {
    const { response, type, guid, text } = await get('/oauth/refused');
    expect([response.status, type]).toEqual([401, expect.stringMatching(/^application\/json/)]);
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(JSON.parse(text)).toEqual({
      error: 'invalid_client',
      error_description: 'The client is not known',
      correlation_id: guid,
    });
  });

  it('lists the faults of a JSON request body with their paths', async () => {
    const { guid, text } = await get('/oauth/faulty');
    expect(JSON.parse(text)).toEqual({
      error: 'invalid_request',
      error_description: 'Correct the request and send it again',
      correlation_id: guid,
      errors: [{ path: 'name[0]', message: 'is required', code: 'required' }],
    });
  });

  it('contains no details of an unexpected exception', async () => {
    const { response, guid, text } = await get('/oauth/broken');
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: 'server_error', correlation_id: guid });
    expect(text).not.toMatch(/Whitfield|secret\.ts|TypeError/);
  });
});

describe('an answer to a request whose handler threw an unexpected exception', () => {
  it.each(['/broken', '/rejected'])(
    'contains the correlation id in its body outside production (%s)',
    async (path) => {
      const { response, guid, text } = await get(path);
      expect(response.status).toBe(500);
      expect(JSON.parse(text)).toMatchObject({ status: 500, correlationId: guid });
    },
  );

  it.each(['/broken', '/rejected'])(
    'contains the correlation id only in the header in production (%s)',
    async (path) => {
      for (const accept of ['*/*', 'application/fhir+json']) {
        const { response, text } = await get(path, { at: production, accept });
        expect([response.status, text]).toEqual([500, '']);
      }
    },
  );

  it('never contains the message or the stack of the exception', async () => {
    for (const accept of ['*/*', 'application/fhir+json', 'text/html']) {
      const { text } = await get('/broken', { accept });
      expect(text).not.toMatch(/Whitfield|secret\.ts|TypeError|\bat /);
    }
  });

  it('is cut off with its connection if part of it was already sent, so that the client sees an incomplete answer', async () => {
    const response = await fetch(`${testing.url}/half`);
    await expect(response.text()).rejects.toThrow('terminated');
    expect((await fetch(`${testing.url}/only`)).status).toBe(200);
  });
});

describe('the log of an error', () => {
  it('has one line, with the stack of an exception or the faults of a refusal, but no resource ids', async () => {
    const own = await serveRoutes(createRoutes);
    const broken = await fetch(`${own.url}/broken`);
    const refused = await fetch(`${own.url}/refused/400`);
    const log = await own.log();
    const of = (response: Response) =>
      log.filter(
        ({ correlationId, msg }) =>
          correlationId === response.headers.get('x-correlation-id') && msg !== 'request answered',
      );
    expect(of(broken)).toEqual([
      expect.objectContaining({
        level: 50,
        status: 500,
        code: 'server_error',
        err: expect.objectContaining({ type: 'TypeError', stack: expect.stringContaining('errors.test.ts') }),
      }),
    ]);
    expect(of(refused)).toEqual([
      expect.objectContaining({ level: 40, status: 400, code: 'not_found', faults: named }),
    ]);
    expect(own.lines.join()).not.toContain('#patient');
  });

  it('reports that the audit event was not stored, while the answer stays the same', async () => {
    const refuse = () => Promise.reject(new Error('the outbox is unavailable'));
    const own = await serveRoutes(createRoutes, { limits: { refuse } });
    const response = await fetch(`${own.url}/unaudited`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: 'not_found' });
    expect(await own.log()).toContainEqual(
      expect.objectContaining({ level: 50, msg: 'the audit event of this refusal was not stored' }),
    );
  });
});
