import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningEdge, startEdge } from './running-edge.ts';

const forServers = [
  '/AccessApi/RequestLaunchUrl',
  '/audit/events?correlationId=1',
  '/idp/demo/oauth2/v2.0/token',
  '/idp/tfp/demo/oauth2/v2.0/token',
  '/idp/d%65mo/oauth2/v2.0/token',
  '/idp/demo/oauth2/v2.0/introspect',
  '/idp/demo/desktop/oauth2/v2.0/introspect',
  '/idp/demo/desktop/launches',
  '/idp/demo/desktop/launches/4f9f3b0e-0000-4000-8000-000000000000',
  '/idp/other/desktop/oauth2/v2.0/token',
  '/idp/demo/something/new',
  '/idp/demo/desktop/v2.0/Patient/x/y',
  '/idp/demo/desktop/launches/v2.0/metadata/x',
  '/idp/assets/oauth2/v2.0/token',
  '/developers/api/vendor/AccessApi/RequestLaunchUrl',
  '/developers/api/vendor/idp/d%65mo/oauth2/v2.0/token',
  '/developers/api/vendor/developers/api/vendor/AccessApi/Validate',
  '/developers/callbacks/vendor',
  '/developers/callbacks/vendor/answer',
  '/developers/callbacks/a/b/again',
];
const forPartners = [
  '/idp/demo/desktop/oauth2/v2.0/token',
  '/idp/Demo/Desktop/oauth2/v2.0/revoke',
  '/idp/tfp/demo/desktop/oauth2/v2.0/par',
  '/developers/api/vendor/idp/demo/desktop/oauth2/v2.0/token',
];
const forBrowsers = [
  '/secureLaunch',
  '/oltr/4f9f3b0e-0000-4000-8000-000000000000/',
  '/orders/4f9f3b0e-0000-4000-8000-000000000000/notepad',
  '/accessibility',
  '/resource/patient',
  '/idp/demo/desktop/oauth2/v2.0/authorize',
  '/idp/demo/v2.0/.well-known/openid-configuration',
  '/idp/demo/desktop/discovery/v2.0/keys',
  '/idp/assets/nhsuk/nhsuk-frontend.css',
  '/idp/assets/mark.svg',
  '/idp/demo/desktop/v2.0/metadata',
  '/idp/demo/desktop/v2.0/Patient?_id=5b1f0c7d9a3e4f62a8c40d1e2f3a4b5c',
  '/idp/demo/desktop/v2.0/Patient/5b1f0c7d9a3e4f62a8c40d1e2f3a4b5c',
  '/developers/',
  '/developers/session?code=x',
  '/developers/callbacks/4f9f3b0e-0000-4000-8000-000000000000/again',
  '/developers/api/vendor/idp/demo/desktop/oauth2/v2.0/authorize',
];

/** Requests every path, and returns its status and body. */
async function ask(edge: RunningEdge, paths: readonly string[], headers: Record<string, string> = {}) {
  const answers = paths.map(async (path) => {
    const response = await fetch(edge.url + path, { headers });
    return [path, response.status, await response.text()];
  });
  return Promise.all(answers);
}

const allAnswered = (paths: readonly string[], status: number, body: string) =>
  paths.map((path) => [path, status, body]);

describe('the edge, called from a network that is not in SERVER_ALLOWED_NETWORKS', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge({
      SERVER_ALLOWED_NETWORKS: '10.20.0.0/16 fd12:3456::/32',
      PARTNER_REALMS: 'north demo/desktop',
    });
  });
  afterAll(() => edge.stop());

  it('answers 403 without a body on a path for servers, however the realm is spelled', async () => {
    expect(await ask(edge, forServers)).toEqual(allAnswered(forServers, 403, ''));
    expect(edge.service.reached).toEqual([]);
  });

  it('answers 403 on a path for servers, whatever address the caller sends in X-Forwarded-For', async () => {
    const answers = await ask(edge, forServers, { 'x-forwarded-for': '10.20.0.1' });
    expect(answers).toEqual(allAnswered(forServers, 403, ''));
  });

  it('answers 403 if a server requests the sign-in of a developer', async () => {
    const before = edge.service.reached.length;
    for (const base of ['', '/developers/api/vendor']) {
      const { status } = await fetch(`${edge.url}${base}/developers/session`, { method: 'POST' });
      expect([status, edge.service.reached.length]).toEqual([403, before]);
    }
  });

  it('answers on paths for browsers, and on paths for partner applications of a listed realm', async () => {
    const open = [...forBrowsers, ...forPartners];
    expect(await ask(edge, open)).toEqual(allAnswered(open, 200, 'answered'));
  });
});

describe('a path for servers', () => {
  it('is answered if the caller is in an allowed network', async () => {
    const edge = await startEdge({ SERVER_ALLOWED_NETWORKS: '10.20.0.0/16 127.0.0.0/8' });
    const all = [...forServers, ...forPartners, ...forBrowsers];
    const answers = await ask(edge, all);
    await edge.stop();
    expect(answers).toEqual(allAnswered(all, 200, 'answered'));
  });

  it.each([
    ['any in production', { NODE_ENV: 'production', SERVER_ALLOWED_NETWORKS: 'any' }],
    ['none in the demo', { NODE_ENV: 'demo', SERVER_ALLOWED_NETWORKS: '' }],
  ])('is answered for every caller if the allowed networks are %s', async (_networks, environment) => {
    const edge = await startEdge({ ...environment, PARTNER_REALMS: '' });
    const answers = await ask(edge, forServers);
    await edge.stop();
    expect(answers).toEqual(allAnswered(forServers, 200, 'answered'));
  });

  it.each([
    ['10.20.0.1', 200],
    ['10.20.0.1, 192.0.2.1', 403],
    ['192.0.2.1', 403],
  ])(
    'is restricted by the last address that a trusted proxy forwards: %s is answered %i',
    async (forwarded, status) => {
      const edge = await startEdge({
        SERVER_ALLOWED_NETWORKS: '10.20.0.0/16',
        EDGE_TRUSTED_PROXIES: '127.0.0.1/32',
      });
      const [answer] = await ask(edge, ['/AccessApi/RequestLaunchUrl'], { 'x-forwarded-for': forwarded });
      await edge.stop();
      expect(answer?.[1]).toBe(status);
    },
  );
});

describe('the last address in X-Forwarded-For, which the services read,', () => {
  it.each([
    ['is the address of the caller if no proxy is trusted, whatever the caller sends', '', '127.0.0.1'],
    ['is the address that a trusted proxy forwards', '127.0.0.1/32', '10.20.0.1'],
    ['is an address without the port of a trusted proxy', '127.0.0.1/32', '10.20.0.1', '10.20.0.1:50001'],
    ['is an IPv6 address that a proxy forwards', '127.0.0.1/32', '2001:db8::1', '2001:db8::1'],
    ['is an IPv6 address without brackets', '127.0.0.1/32', '2001:db8::1', '[2001:db8::1]'],
    ['is an IPv6 address without its port', '127.0.0.1/32', '2001:db8::1', '[2001:db8::1]:50001'],
  ])('%s', async (_title, trusted, expected, sent = '10.20.0.1') => {
    const edge = await startEdge({ EDGE_TRUSTED_PROXIES: trusted });
    await ask(edge, ['/oltr/'], { 'x-forwarded-for': `192.0.2.1, ${sent}` });
    await edge.stop();
    const [request] = edge.service.reached;
    expect(String(request?.headers['x-forwarded-for']).split(', ').at(-1)).toBe(expected);
  });
});
