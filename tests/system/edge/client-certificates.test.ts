import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { startPlatformForTest } from '../running-platform.ts';
import { createAuthority, sendByTls, type TestCertificate } from './client-certificates.ts';
import { makeCertificate, startEdgeBefore } from './running-edge.ts';
import { sendBytes } from './send-bytes.ts';

const authority = createAuthority();
const issued = authority.make('issued', { dnsName: 'pms.example.org', by: 'authority' });
const misnamed = authority.make('misnamed', { dnsName: 'other.example.org', by: 'authority' });
const own = authority.make('own', { dnsName: 'own.example.org', by: 'itself' });
const impostor = authority.make('impostor', { dnsName: 'pms.example.org', by: 'itself' });

const scopes = ['ocs-launch.write'];
const bound = { scopes, secrets: [], practices: 'any', tlsClientCertificateBoundAccessTokens: true };
const redirectUri = 'https://partner.example/auth';
const partner = {
  name: 'Partner',
  redirectUris: [redirectUri],
  launchUrl: 'https://partner.example/launch',
  scopes: ['openid', 'launch', 'resource.read'],
  tlsClientCertificateBoundAccessTokens: true,
};

/** Writes the demo's registry with additional clients and partner applications that have certificates. */
function registryFile(): string {
  const demo = JSON.parse(
    readFileSync(new URL('../../../sandbox/simulators/registry.json', import.meta.url), 'utf8'),
  );
  for (const realm of demo.realms) {
    if (realm.realm === 'demo')
      realm.clients.push(
        { clientId: 'pms-issued', name: 'Issued', ...bound, tlsClientAuthSanDns: 'pms.example.org' },
        {
          clientId: 'pms-own',
          name: 'Own',
          ...bound,
          tlsClientCertificateThumbprints: ['A'.repeat(43), own.thumbprint],
        },
      );
    realm.desktop?.partners.push(
      { clientId: 'partner-public', ...partner },
      { clientId: 'partner-own', ...partner, tlsClientCertificateThumbprints: [own.thumbprint] },
    );
  }
  return authority.write('registry.json', demo);
}

const server = makeCertificate();
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let edge: Awaited<ReturnType<typeof startEdgeBefore>>;
const start = (environment: Record<string, string>) =>
  startPlatformForTest({ environment: { REGISTRY_FILE: registryFile(), ...environment }, logLevel: 'error' });
const portOf = (url: string) => Number(new URL(url).port);

beforeAll(async () => {
  platform = await start({ CLIENT_CERTIFICATE_HEADER: 'Client-Cert', TRUSTED_PROXIES: '1' });
  edge = await startEdgeBefore({
    port: portOf(platform.publicUrl),
    adminPort: portOf(platform.adminUrl),
    keepsPrefix: true,
    environment: {
      EDGE_CERTIFICATE: server.path,
      EDGE_CLIENT_CA: authority.path,
      PUBLIC_URL: 'https://launch.example',
    },
  });
});
afterAll(async () => {
  await edge.stop();
  await platform.stop();
  server.remove();
  authority.remove();
});

type Options = { certificate?: TestCertificate | undefined; headers?: Record<string, string> };
const send = (path: string, options: Omit<Parameters<typeof sendByTls>[0], 'port' | 'ca' | 'path'> = {}) =>
  sendByTls({ port: edge.tls, ca: server.ca, path, ...options });
const postForm = (path: string, form: Record<string, string>, { certificate, headers = {} }: Options = {}) =>
  send(path, {
    method: 'POST',
    certificate,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  });
const clientForm = (client_id: string) => ({
  grant_type: 'client_credentials',
  client_id,
  scope: 'api://clinical-launch/.default',
});
const askToken = (clientId: string, options: Options = {}) =>
  postForm('/idp/demo/oauth2/v2.0/token', clientForm(clientId), options);
const tokenOf = async (clientId: string, certificate: TestCertificate) =>
  String((await askToken(clientId, { certificate })).body.access_token);
const requestLaunch = async (token: string, { certificate, headers = {} }: Options = {}) => {
  const challenge = createHash('sha256').update('v'.repeat(64)).digest('base64url');
  const answer = await send('/AccessApi/RequestLaunchUrl', {
    method: 'POST',
    certificate,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'code-challenge': challenge,
      ...headers,
    },
    body: JSON.stringify(aServiceRequest()),
  });
  return answer.status;
};

it('answers 401 to an invalid token before a client that waits for 100 Continue sends its body', async () => {
  const { status } = await sendBytes({ port: edge.tls, ca: server.ca }, [
    'POST /AccessApi/RequestLaunchUrl HTTP/1.1',
    'Host: launch.example',
    'Authorization: Bearer invalid',
    'Content-Type: application/json',
    'Content-Length: 5000',
    'Expect: 100-continue',
  ]);
  expect(status).toBe(401);
});

describe('a practice system that authenticates by mutual TLS (RFC 8705)', () => {
  it.each([
    ['a CA-issued certificate, known by its name', 'pms-issued', issued],
    ['a self-signed certificate, known by its thumbprint', 'pms-own', own],
  ])('launches with a token bound to %s', async (_which, clientId, certificate) => {
    const { status, body } = await askToken(clientId, { certificate });
    expect([status, body.token_type]).toEqual([200, 'Bearer']);
    const token = String(body.access_token);
    expect(decodeJwt(token).cnf).toEqual({ 'x5t#S256': certificate.thumbprint });
    expect(await requestLaunch(token, { certificate })).toBe(200);
  });

  it.each([
    ['no certificate', 'pms-issued', undefined],
    ['a CA-issued certificate for another name', 'pms-issued', misnamed],
    ['a self-signed certificate for its name', 'pms-issued', impostor],
    ['an unregistered certificate', 'pms-own', issued],
  ])('is refused with %s', async (_which, clientId, certificate) => {
    const { status, body } = await askToken(clientId, { certificate });
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });

  it('is refused if it sends its token without its certificate or with another certificate', async () => {
    const token = await tokenOf('pms-own', own);
    expect(await requestLaunch(token)).toBe(401);
    expect(await requestLaunch(token, { certificate: issued })).toBe(401);
  });

  it('cannot be impersonated by a caller that sends its certificate in a header', async () => {
    const token = await tokenOf('pms-own', own);
    for (const value of [own.header, `${own.header};verified`]) {
      for (const name of ['Client-Cert', 'client-cert', 'CLIENT-CERT']) {
        for (const certificate of [undefined, issued]) {
          const spoofed = { certificate, headers: { [name]: value } };
          expect((await askToken('pms-own', spoofed)).status).toBe(401);
          expect(await requestLaunch(token, spoofed)).toBe(401);
        }
      }
    }
  });

  it('receives a token that is not bound to a certificate if it has registered a secret but no certificate', async () => {
    const form = { ...clientForm('pms-demo'), client_secret: 'pms-demo-secret' };
    const { body } = await postForm('/idp/demo/oauth2/v2.0/token', form, { certificate: issued });
    expect(decodeJwt(String(body.access_token)).cnf).toBeUndefined();
    expect(await requestLaunch(String(body.access_token))).toBe(200);
  });
});

describe('a partner application with certificate-bound tokens', () => {
  const at = '/idp/demo/desktop';
  /** Issues and authorizes a launch, and returns the form that redeems the code. */
  const codeFor = async (client_id: string) => {
    const { body: host } = await postForm('/idp/demo/oauth2/v2.0/token', {
      ...clientForm('host-demo'),
      client_secret: 'host-demo-secret',
    });
    const launched = await send(`${at}/launches`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(host.access_token)}`, 'content-type': 'application/json' },
      body: JSON.stringify(aDesktopLaunch(client_id)),
    });
    const verifier = randomBytes(32).toString('base64url');
    const scope = 'openid launch resource.read';
    const authorized = await postForm(`${at}/oauth2/v2.0/authorize`, {
      client_id,
      response_type: 'code',
      redirect_uri: redirectUri,
      response_mode: 'query',
      scope,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 's',
      launch: String(launched.body.launch),
    });
    const code = new URL(String(authorized.location)).searchParams.get('code') ?? '';
    const grant_type = 'authorization_code';
    return { grant_type, client_id, scope, code, redirect_uri: redirectUri, code_verifier: verifier };
  };
  const exchange = (form: Record<string, string>, certificate?: TestCertificate) =>
    postForm(`${at}/oauth2/v2.0/token`, form, { certificate });
  const readMe = async (token: string, certificate?: TestCertificate) =>
    (await send('/resource/me', { headers: { authorization: `Bearer ${token}` }, certificate })).status;

  it.each([
    ['partner-public', 'invalid_request', 'invalid_grant'],
    ['partner-own', 'invalid_client', 'invalid_client'],
  ])(
    'needs the certificate to redeem a code, read a resource and refresh: %s',
    async (clientId, forCode, forRefresh) => {
      const form = await codeFor(clientId);
      expect((await exchange(form)).body.error).toBe(forCode);
      const { body } = await exchange(form, own);
      const access = String(body.access_token);
      expect(decodeJwt(access).cnf).toEqual({ 'x5t#S256': own.thumbprint });
      expect(await Promise.all([readMe(access, own), readMe(access), readMe(access, issued)])).toEqual([
        200, 401, 401,
      ]);
      const refresh = {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: String(body.refresh_token),
      };
      expect((await exchange(refresh)).body.error).toBe(forRefresh);
      expect((await exchange(refresh, issued)).body.error).toBe(forRefresh);
      const next = await exchange(refresh, own);
      expect(decodeJwt(String(next.body.access_token)).cnf).toEqual({ 'x5t#S256': own.thumbprint });
    },
  );
});

describe('the identity provider without CLIENT_CERTIFICATE_HEADER', () => {
  it('ignores certificates in headers, and does not announce mutual TLS', async () => {
    const bare = await start({});
    const ask = await fetch(`${bare.publicUrl}/idp/demo/oauth2/v2.0/token`, {
      method: 'POST',
      headers: { 'Client-Cert': `${own.header};verified` },
      body: new URLSearchParams(clientForm('pms-own')),
    });
    const discovery = await fetch(`${bare.publicUrl}/idp/demo/v2.0/.well-known/openid-configuration`);
    const text = await discovery.text();
    await bare.stop();
    expect(ask.status).toBe(401);
    expect(text).not.toContain('tls_client');
  });
});

function aDesktopLaunch(client_id: string) {
  return {
    client_id,
    user: {
      userERN: 'ern:user:1',
      email: 'a@example.org',
      title: 'Dr',
      firstName: 'Ada',
      familyName: 'Okonkwo',
    },
    organisation: { orgERN: 'ern:org:1', orgName: 'Harbour Surgery', cdb: '1', ods: 'B82017' },
    authorizations: ['clinical-cr.read'],
    patient: {
      title: 'Mr',
      forenames: 'Cathal',
      surname: 'Quinn',
      gender: 'Male',
      dob: '03-Nov-1987',
      'patient-identifiers': [{ identifierType: 'NHS Number', identifierValue: '9434765870' }],
      'address-details': [{ addressLine1: '' }],
      'contact-details': [],
    },
  };
}
