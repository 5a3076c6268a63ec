import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FailingService, startEdgeOfFailingService } from './failing-service.ts';
import { expectPage, referenceOf } from './own-page.ts';
import { flood, startEdge } from './running-edge.ts';
import { sendBytes } from './send-bytes.ts';

const accept = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const navigation = 'Sec-Fetch-Mode: navigate';
const tooLong = 'Content-Length: 2000000';

const send = (port: number, path: string, ...headers: string[]) =>
  sendBytes({ port }, [`GET ${path} HTTP/1.1`, 'Host: launch.example', 'Connection: close', ...headers]);

const notAvailable = 'This page is not available now';

describe('the edge in front of a service that fails', () => {
  let edge: FailingService;
  beforeAll(async () => {
    edge = await startEdgeOfFailingService();
  });
  afterAll(() => edge.stop());

  /** Each row contains the status, a path, the title of the problem, and further headers. */
  const failures: readonly (readonly [number, string, string, ...string[]])[] = [
    [502, '/oltr/closes', 'Bad Gateway'],
    [504, '/oltr/waits', 'Gateway Timeout'],
    [413, '/oltr/', 'Content Too Large', tooLong],
  ];

  it.each(failures)('answers %i with a page to a browser', async (status, path, _title, ...headers) => {
    const answer = await send(edge.plain, path, accept, navigation, ...headers);
    expect(answer.status).toBe(status);
    expectPage(answer, notAvailable);
  });

  it.each(failures)(
    'answers %i with problem details to a program',
    async (status, path, title, ...headers) => {
      const answer = await send(edge.plain, path, 'Accept: */*', ...headers);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        status,
        'application/problem+json',
      ]);
      const correlationId = referenceOf(answer);
      expect(answer.body).toBe(JSON.stringify({ type: 'about:blank', title, status, correlationId }));
      expect(answer.headers.get('content-security-policy')).toBe(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it('answers 400 with a page to a browser that sends two credentials', async () => {
    const both = ['Authorization: Bearer a', 'Authorization: Bearer b'];
    const answer = await send(edge.plain, '/oltr/', accept, ...both);
    expect(answer.status).toBe(400);
    expectPage(answer, notAvailable);
  });

  it.each([[accept], [navigation]])('recognises a browser that sends only the header %s', async (header) => {
    expectPage(await send(edge.plain, '/oltr/closes', header), notAvailable);
  });

  it('forwards the answer of the service to a browser unchanged', async () => {
    const { status, headers, body } = await send(edge.plain, '/oltr/answers', accept, navigation);
    expect([status, headers.get('content-type'), body]).toEqual([503, 'text/plain', 'busy']);
    expect(headers.get('permissions-policy')).toBeUndefined();
  });

  it('answers 503 with a page or problem details while the service is down', async () => {
    await edge.stopService();
    await until(async () => (await send(edge.plain, '/oltr/')).status === 503);
    const page = await send(edge.plain, '/oltr/', accept);
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '1']);
    expectPage(page, notAvailable);
    const { body } = await send(edge.plain, '/oltr/');
    expect(JSON.parse(body)).toMatchObject({ title: 'Service Unavailable', status: 503 });
  });

  it('answers 404 below /developers/ while no developer portal runs', async () => {
    await edge.stopService();
    await until(async () => (await send(edge.plain, '/developers/')).status === 404);
    expectPage(await send(edge.plain, '/developers/', accept), 'Page not found');
  });
});

describe('a refusal of the edge itself', () => {
  const refusals = [
    [403, '/AccessApi/RequestLaunchUrl', notAvailable, { SERVER_ALLOWED_NETWORKS: '10.20.0.0/16' }],
    [404, '/nowhere', 'Page not found', {}],
    [429, '/secureLaunch', notAvailable, { REFUSALS_PER_ADDRESS: '1' }],
  ] as const;

  it.each(refusals)('is a page for a browser, and empty for a program: %i', async (...row) => {
    const [status, path, heading, environment] = row;
    const edge = await startEdge(environment);
    try {
      await flood(edge);
      const page = await send(edge.plain, path, accept, navigation);
      const empty = await send(edge.plain, path);
      expect([page.status, empty.status]).toEqual([status, status]);
      expectPage(page, heading);
      expect([empty.body, empty.headers.get('content-type')]).toEqual(['', undefined]);
    } finally {
      await edge.stop();
    }
  });
});

describe('/.well-known/security.txt', () => {
  const fetchFrom = async (environment: NodeJS.ProcessEnv) => {
    const edge = await startEdge(environment);
    try {
      return await send(edge.plain, '/.well-known/security.txt');
    } finally {
      await edge.stop();
    }
  };

  it('contains the contact, and expires within a year (RFC 9116 section 2.5.5)', async () => {
    const { status, headers, body } = await fetchFrom({ SECURITY_CONTACT: 'mailto:a%2Bb@example.org' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const [, expires = ''] =
      /^Contact: mailto:a%2Bb@example\.org\nExpires: (.*)\nPreferred-Languages: en\n$/.exec(body) ?? [];
    const daysLeft = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(daysLeft).toBeGreaterThan(100);
    expect(daysLeft).toBeLessThan(365);
  });

  it.each([
    ['is not set', {}],
    ['is not a URI', { SECURITY_CONTACT: 'security@example.org' }],
  ])('answers 404 if SECURITY_CONTACT %s', async (_value, environment) => {
    expect((await fetchFrom(environment)).status).toBe(404);
  });
});
