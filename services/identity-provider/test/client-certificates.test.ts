import { createHash } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  aPartner,
  desktopRealms,
  type RunningDesktop,
  refusalOf,
  runDesktop,
  tokensOf,
} from './running-desktop.ts';
import { aClient, record, tokenForm } from './running-identity-provider.ts';

/*
 * tests/system/edge tests the edge with real connections. These tests send the header as the edge does
 * (RFC 9440). Both certificates are self-signed and valid from 2000 until the end of 2099.
 */
const certificates = {
  /** The certificate of registered.example.org, registered by its thumbprint. */
  registered: [
    'MIIBcjCCARigAwIBAgIUTMlOAJ5OTBbeQz7kqsVx38r7poowCgYIKoZIzj0EAwIwFTETMBEGA1UEAwwKcmVnaXN0ZXJlZDAg',
    'Fw0wMDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowFTETMBEGA1UEAwwKcmVnaXN0ZXJlZDBZMBMGByqGSM49AgEGCCqG',
    'SM49AwEHA0IABK1x5DyabOef3CvsDpOWa6E/PYb1Awv2C9JEyHMTtfXbiJXU+PVVyy9r5vhgyIdFKfZcg4VeCMzvnSbr/Tcu',
    '39WjRDBCMCEGA1UdEQQaMBiCFnJlZ2lzdGVyZWQuZXhhbXBsZS5vcmcwHQYDVR0OBBYEFPH/Xgb9Uy92yADDn156/exZAp6j',
    'MAoGCCqGSM49BAMCA0gAMEUCIFLMSmXM/exjHq9JoemneMbbYpJ6U2359wY9rHDV82HuAiEAr6t7yDsv+MpMNdz1Uj4LKVQb',
    'fVHeq/5MYnWq0nqaElg=',
  ].join(''),
  /** The certificate of named.example.org. Only this name is registered, not the certificate. */
  named: [
    'MIIBZDCCAQmgAwIBAgIUOCmps2LZwR5u+vEz5uEWK0+XMIMwCgYIKoZIzj0EAwIwEDEOMAwGA1UEAwwFbmFtZWQwIBcNMDAw',
    'MTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMBAxDjAMBgNVBAMMBW5hbWVkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE',
    'P36lpNIxOXA8I2b/wJcL4PSMR8CohJ7RISEME+4p/RNX5lZYT4ETdxkoqix5SDtTMXFdbDRjOnzs5QgH6niIgaM/MD0wHAYD',
    'VR0RBBUwE4IRbmFtZWQuZXhhbXBsZS5vcmcwHQYDVR0OBBYEFNJRbhIkwXiCFLX/0Jj6H2t6742aMAoGCCqGSM49BAMCA0kA',
    'MEYCIQDAoREnRLQJWA4DnXYZI3hTzppXySxWnJoHZdnFHkPMrwIhAOL1m7lDDntWb7TfXPRHm3qbF8AQPCDjHBVh1MCcT/Sn',
  ].join(''),
};
const forwarded = (name: keyof typeof certificates, suffix = '') => ({
  'client-cert': `:${certificates[name]}:${suffix}`,
});
const thumbprint = createHash('sha256')
  .update(Buffer.from(certificates.registered, 'base64'))
  .digest('base64url');

const at = 'assured/desktop';
const realms = [
  ...desktopRealms(),
  {
    realm: 'assured',
    clients: [
      aClient({
        clientId: 'by-thumbprint',
        secrets: [],
        tlsClientCertificateThumbprints: [thumbprint],
        tlsClientCertificateBoundAccessTokens: true,
      }),
      aClient({ clientId: 'by-name', secrets: [], tlsClientAuthSanDns: 'named.example.org' }),
    ],
  },
  {
    realm: at,
    clients: [],
    desktop: {
      partners: [
        aPartner({ clientId: 'bound', profile: 'standard', tlsClientCertificateBoundAccessTokens: true }),
        aPartner({
          clientId: 'certified',
          profile: 'standard',
          tlsClientCertificateThumbprints: [thumbprint],
          requestsPerSecond: 2,
        }),
      ],
    },
  },
];

let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  running = await runDesktop({
    clock: new TestClock(),
    storage,
    realms,
    clientCertificateHeader: 'Client-Cert',
  });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const ask = async (clientId: string, headers: Record<string, string>, of = running) => {
  const { client_secret: _none, ...form } = { ...tokenForm(), client_id: clientId };
  return of.idp.postForm('/assured/oauth2/v2.0/token', form, headers);
};
const lastReason = () => record(running.published.at(-1)?.data).reason;

describe('a client with a certificate', () => {
  it('gets a token bound to its registered certificate', async () => {
    const response = await ask('by-thumbprint', forwarded('registered'));
    expect(response.status).toBe(200);
    const { access_token: token } = record(await response.json());
    expect(decodeJwt(String(token)).cnf).toEqual({ 'x5t#S256': thumbprint });
  });

  it('gets no token with another certificate, even if the edge verified its issuer', async () => {
    for (const suffix of ['', ';verified']) {
      const response = await ask('by-thumbprint', forwarded('named', suffix));
      expect(await refusalOf(response)).toMatchObject({ status: 401, error: 'invalid_client' });
      expect(lastReason()).toBe('wrong_certificate');
    }
  });

  it('is recognised by its DNS name only if the edge verified the issuer of a certificate with that name', async () => {
    expect((await ask('by-name', forwarded('named', ';verified'))).status).toBe(200);
    for (const headers of [forwarded('named'), forwarded('registered', ';verified')]) {
      expect((await ask('by-name', headers)).status).toBe(401);
      expect(lastReason()).toBe('wrong_certificate');
    }
  });

  it('gets no token with an expired certificate, even if the edge accepted it', async () => {
    const clock = new TestClock(Date.parse('2099-12-31T23:00:00Z'));
    const later = await runDesktop({ clock, storage, realms, clientCertificateHeader: 'Client-Cert' });
    const requests = [
      ['by-thumbprint', forwarded('registered')],
      ['by-name', forwarded('named', ';verified')],
    ] as const;
    const statuses = () =>
      Promise.all(requests.map(async ([id, headers]) => (await ask(id, headers, later)).status));
    expect(await statuses()).toEqual([200, 200]);
    clock.advance({ seconds: 2 * 3600 });
    expect(await statuses()).toEqual([401, 401]);
    await later.stop();
  });
});

describe('a partner application with a certificate', () => {
  it('gets tokens only with this certificate, and only within its rate limit', async () => {
    const fields = await running.codeFor({ client_id: 'certified' }, { at });
    const exchange = (headers: Record<string, string>) => running.postToken(fields, at, headers);
    for (const [headers, reason] of [
      [{}, 'no_authentication'],
      [forwarded('named'), 'wrong_certificate'],
    ] as const) {
      expect(await refusalOf(await exchange(headers))).toMatchObject({
        status: 401,
        error: 'invalid_client',
      });
      expect(lastReason()).toBe(reason);
    }
    expect((await exchange(forwarded('registered'))).status).toBe(200);
    expect((await exchange(forwarded('registered'))).status).toBe(429);
  });
});

describe('a discovery document', () => {
  it.each([
    ['assured', ['tls_client_auth', 'self_signed_tls_client_auth']],
    [at, ['self_signed_tls_client_auth']],
    ['north', []],
  ])('announces the mutual TLS of the clients in the realm %s', async (of, announced) => {
    const document = await running.idp.get(`/${of}/v2.0/.well-known/openid-configuration`);
    const { token_endpoint_auth_methods_supported: methods, ...more } = record(await document.json());
    expect(String(methods).match(/\w*tls_client_auth/g) ?? []).toEqual(announced);
    expect(more).toMatchObject({ tls_client_certificate_bound_access_tokens: true });
  });
});

describe('a public partner application with certificate-bound tokens', () => {
  it('needs the same certificate for each refresh', async () => {
    const fields = await running.codeFor({ client_id: 'bound' }, { at });
    const exchanged = await running.postToken(fields, at, forwarded('registered'));
    const { refreshToken } = tokensOf(await exchanged.json());
    const refresh = (headers: Record<string, string>) =>
      running.postToken({ grant_type: 'refresh_token', refresh_token: refreshToken }, at, headers);
    for (const headers of [{}, forwarded('named')]) {
      expect(await refusalOf(await refresh(headers))).toMatchObject({ status: 400, error: 'invalid_grant' });
      expect(lastReason()).toBe('ticket_of_other_certificate');
    }
    expect((await refresh(forwarded('registered'))).status).toBe(200);
  });
});
