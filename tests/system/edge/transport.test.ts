import { copyFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type SecureContextOptions, type SecureVersion } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkConfiguration, makeCertificate, type RunningEdge, startEdge } from './running-edge.ts';
import { sendBytes } from './send-bytes.ts';

const launch = '/secureLaunch?launchToken=TOKEN&codeVerifier=VERIFIER';
const headOf =
  (method: string) =>
  (path: string, ...headers: string[]) => [
    `${method} ${path} HTTP/1.1`,
    'Host: launch.example',
    'Connection: close',
    ...headers,
  ];
const [get, post] = [headOf('GET'), headOf('POST')];

describe('the edge with a certificate', () => {
  const certificate = makeCertificate();
  const environment = { EDGE_CERTIFICATE: certificate.path, PUBLIC_URL: 'https://launch.example' };
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge(environment);
  });
  afterAll(async () => {
    await edge.stop();
    certificate.remove();
  });

  /** Returns the version and the cipher suite negotiated with a client. */
  const agree = (only: SecureContextOptions & { ecdhCurve?: string }) =>
    new Promise<{ version: string | null; cipher: string }>((resolve, reject) => {
      const socket = connect({ port: edge.tls, host: '127.0.0.1', ca: certificate.ca, ...only }, () => {
        resolve({ version: socket.getProtocol(), cipher: socket.getCipher().name });
        socket.destroy();
      }).once('error', reject);
    });

  /** Returns the version negotiated with a client that supports only `version`. */
  const agreeOn = async (version: SecureVersion) =>
    (await agree({ minVersion: version, maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' })).version;

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('accepts connections with %s', async (version) => {
    expect(await agreeOn(version)).toBe(version);
  });

  // Windows Server 2012 R2 has ECDHE with authenticated encryption only for ECDSA certificates.
  it('accepts connections with the cipher suites of Windows Server 2012 R2, as its certificate is ECDSA', async () => {
    const withRsa =
      'ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES256-GCM-SHA384:AES128-GCM-SHA256';
    const suites = { maxVersion: 'TLSv1.2', ecdhCurve: 'P-256:P-384' } as const;
    const ciphers = `${withRsa}:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256`;
    expect((await agree({ ...suites, ciphers })).cipher).toMatch(/^ECDHE-ECDSA-AES(128|256)-GCM-/);
    await expect(agree({ ...suites, ciphers: withRsa })).rejects.toThrow('handshake failure');
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('refuses connections with %s', async (version) => {
    await expect(agreeOn(version)).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  });

  it.each([
    ['GET', '/idp/demo/desktop/v2.0/Patient/SECRET', 308],
    ['DELETE', '/idp/demo/desktop/launches/SECRET', 403],
  ])(
    'answers %s %s over plain http with headers that allow nothing, and masks its path',
    async (method, path, expected) => {
      const { status, headers } = await sendBytes({ port: edge.plain }, [
        `${method} ${path} HTTP/1.1`,
        ...get(path).slice(1),
      ]);
      expect([status, headers.get('x-content-type-options'), headers.get('content-security-policy')]).toEqual(
        [expected, 'nosniff', "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"],
      );
      while (!edge.log().includes(`"method":"${method}"`)) await delay(10);
      expect(edge.log()).not.toContain('SECRET');
    },
  );

  it('sends Strict-Transport-Security in every answer, including its own', async () => {
    const own = { port: edge.tls, ca: certificate.ca };
    const answers = await Promise.all([
      sendBytes(own, get(launch)),
      sendBytes(own, get('/nowhere')),
      sendBytes(own, post('/AccessApi/RequestLaunchUrl', 'Content-Length: 2000000')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 413]);
    expect(answers.map(({ headers }) => headers.get('strict-transport-security'))).toEqual(
      Array.from({ length: 3 }, () => 'max-age=31536000'),
    );
  });

  it('redirects http to https without Strict-Transport-Security (RFC 6797 section 7.2)', async () => {
    const { status, headers } = await sendBytes({ port: edge.plain }, get('/demo/pms'));
    expect([status, headers.get('location')]).toEqual([308, 'https://launch.example/demo/pms']);
    expect(headers.get('strict-transport-security')).toBeUndefined();
  });

  it.each([
    ['a launch URL', get(launch)],
    ['an access token', get('/audit/events', 'Authorization: Bearer TOKEN')],
    ['a body', post('/idp/demo/oauth2/v2.0/token', 'Content-Length: 0')],
  ])('refuses %s sent over http, and does not forward it', async (_secret, head) => {
    const before = edge.service.reached.length;
    const { status, body, headers } = await sendBytes({ port: edge.plain }, head);
    expect([status, body, headers.get('location')]).toEqual([403, '', undefined]);
    expect(edge.service.reached).toHaveLength(before);
  });

  it('does not start without PUBLIC_URL, to which it redirects', async () => {
    const { status, output } = await checkConfiguration({ ...environment, PUBLIC_URL: '' });
    expect([status, output]).toEqual([1, expect.stringContaining('EDGE_CERTIFICATE needs PUBLIC_URL')]);
  });
});

describe('the configuration of the edge', () => {
  it.each([
    ['no settings', {}],
    ['empty settings', { SERVER_ALLOWED_NETWORKS: '', PARTNER_REALMS: '', EDGE_TRUSTED_PROXIES: '' }],
    ['networks', { SERVER_ALLOWED_NETWORKS: '10.0.0.0/8 fd00::/8', EDGE_TRUSTED_PROXIES: '10.0.0.1' }],
  ])('is accepted without warnings with %s', async (_settings, environment) => {
    const { status, output } = await checkConfiguration(environment);
    expect(output).not.toMatch(/WARNING|ALERT/);
    expect(status).toBe(0);
  });

  it.each(['everybody', 'any 10.20.0.0/16'])('is refused with the networks %s', async (networks) => {
    expect((await checkConfiguration({ SERVER_ALLOWED_NETWORKS: networks })).status).toBe(1);
  });

  it('is refused in production without SERVER_ALLOWED_NETWORKS, and the message says what to set', async () => {
    const { status, output } = await checkConfiguration({
      NODE_ENV: 'production',
      SERVER_ALLOWED_NETWORKS: '',
    });
    expect([status, output]).toEqual([
      1,
      expect.stringMatching(/SERVER_ALLOWED_NETWORKS is required in production: set .* or `any` to allow/),
    ]);
  });

  it.each(['any', '10.20.0.0/16 fd00::/8'])(
    'is accepted in production with the networks %s',
    async (networks) => {
      const { status, output } = await checkConfiguration({
        NODE_ENV: 'production',
        SERVER_ALLOWED_NETWORKS: networks,
      });
      expect(output).not.toMatch(/WARNING|ALERT/);
      expect(status).toBe(0);
    },
  );

  it('is accepted with the private key in a separate file, as Kubernetes mounts it', async () => {
    const { path, ca, keyPath, remove } = makeCertificate();
    const mounted = `${path}.mounted`;
    writeFileSync(mounted, ca);
    copyFileSync(keyPath, `${mounted}.key`);
    const { status } = await checkConfiguration({
      EDGE_CERTIFICATE: mounted,
      PUBLIC_URL: 'https://launch.example',
    });
    remove();
    expect(status).toBe(0);
  });
});

describe('the edge without a certificate', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
  });
  afterAll(() => edge.stop());

  const refusedAtOnce = {
    status: 413,
    body: expect.stringContaining('Too Large'),
  };

  it.each([
    ['/idp/demo/desktop/v2.0/Patient/PSEUDONYM', 'resource-api', '/idp/demo/desktop/v2.0/Patient/*'],
    ['/idp/demo/desktop/v2.0/Patient?_id=PSEUDONYM', 'resource-api', '/idp/demo/desktop/v2.0/Patient'],
    ['/idp/tfp/demo/v2.0/Organization/a/PSEUDONYM', 'resource-api', '/idp/tfp/demo/v2.0/Organization/*'],
    ['/idp/demo/desktop/v2.0/metadata', 'resource-api', '/idp/demo/desktop/v2.0/metadata'],
    ['/idp/demo/v2.0/.well-known/metadata', 'identity-provider', '/idp/demo/v2.0/.well-known/metadata'],
    ['/audit/patients/PSEUDONYM', 'audit-trail', '/audit/patients/*'],
    ['/developers/api/vendor/PSEUDONYM', 'developer-portal', '/developers/api/*'],
    ['/developers/runs/PSEUDONYM', 'developer-portal', '/developers/runs/*'],
    ['/developers/callbacks/PSEUDONYM', 'developer-portal', '/developers/callbacks/*'],
    ['/developers', 'developer-portal', '/developers'],
  ])(
    'routes %s to %s, and logs no id of a FHIR resource, pseudonym of a patient or path of a sandbox client',
    async (path, service, logged) => {
      const edge = await startEdge();
      await (await fetch(`${edge.url}${path}`)).text();
      while (!edge.log().includes(`"upstream":"${service}"`)) await delay(10);
      expect(edge.log()).toContain(`"path":${JSON.stringify(logged).replaceAll('/', String.raw`\/`)}`);
      expect(edge.log()).not.toContain('PSEUDONYM');
      await edge.stop();
    },
  );

  it('forwards requests, and logs the path of a launch URL without its secrets', async () => {
    const { status, headers } = await sendBytes({ port: edge.plain }, get(launch));
    expect([status, headers.get('strict-transport-security')]).toEqual([200, undefined]);
    expect(edge.service.reached).toContainEqual(expect.objectContaining({ path: launch }));
    while (!edge.log().includes('launch-gateway')) await delay(10);
    expect(edge.log()).toContain(String.raw`"path":"\/secureLaunch"`);
    expect(edge.log()).not.toMatch(/TOKEN|VERIFIER/);
  });

  it.each([
    '/secureLaunch%3FlaunchToken=TOKEN&codeVerifier=VERIFIER',
    '/oltr/%3flaunchToken=TOKEN&codeVerifier=VERIFIER',
    '/TOKEN',
  ])('logs no secret in an unexpected path: %s', async (path) => {
    const lines = () => edge.log().split('\n').length;
    const before = lines();
    await sendBytes({ port: edge.plain }, get(path));
    while (lines() === before) await delay(10);
    expect(edge.log()).toContain('"path":"/*"');
    expect(edge.log()).not.toMatch(/TOKEN|VERIFIER/);
  });

  it('sends Strict-Transport-Security if a proxy terminates TLS in front of it', async () => {
    const behindTls = await startEdge({ PUBLIC_URL: 'https://launch.example' });
    const { headers } = await sendBytes({ port: behindTls.plain }, get('/nowhere'));
    await behindTls.stop();
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  });

  it.each(['1048577', '2147483648', '4294967297', '10737418240', '9223372036854775807'])(
    'refuses a declared length of %s bytes before it reads the body',
    async (length) => {
      const before = edge.service.reached.length;
      const answer = await sendBytes(
        { port: edge.plain },
        post('/AccessApi/RequestLaunchUrl', `Content-Length: ${length}`),
      );
      expect(answer).toMatchObject(refusedAtOnce);
      expect(edge.service.reached).toHaveLength(before);
    },
  );

  it('immediately refuses a body that is too long if the request has Expect: 100-continue', async () => {
    const head = post('/idp/demo/oauth2/v2.0/token', 'Content-Length: 4294967297', 'Expect: 100-continue');
    expect(await sendBytes({ port: edge.plain }, head)).toMatchObject(refusedAtOnce);
  });

  it('forwards a body of exactly 1 MiB', async () => {
    const before = edge.service.bytesRead();
    const head = post('/idp/demo/oauth2/v2.0/token', 'Content-Length: 1048576');
    // The service then refuses the body, because its own limit is smaller.
    await sendBytes({ port: edge.plain }, head, pieces(1_048_576));
    expect(edge.service.bytesRead()).toBeGreaterThan(before);
  });

  it('forwards the service’s refusal of a chunked body before the whole body has arrived', async () => {
    const head = post('/AccessApi/RequestLaunchUrl', 'Transfer-Encoding: chunked');
    const answer = await sendBytes({ port: edge.plain }, head, chunks(200 * 2 ** 20));
    // A client that does not read while it writes may see the connection end instead of the answer.
    expect([413, Number.NaN]).toContainEqual(answer.status);
    // `bytesSent` also counts the bytes in the buffers of the edge and of the operating system.
    expect(answer.bytesSent).toBeLessThan(20 * 2 ** 20);
  });

  it.each([
    ['Authorization: Bearer a', 'Authorization: Bearer b'],
    ['Authorization: Bearer a', 'authorization: Basic Yjpi'],
  ])('refuses a request with two credentials: %s, %s', async (...both) => {
    const before = edge.service.reached.length;
    const answer = await sendBytes({ port: edge.plain }, get('/audit/events', ...both));
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('Send exactly one Authorization header');
    expect(answer.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(edge.service.reached).toHaveLength(before);
  });
});

function* pieces(bytes: number): Generator<string> {
  const piece = 'x'.repeat(65_536);
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece.slice(0, bytes - sent);
}

function* chunks(bytes: number): Generator<string> {
  for (const piece of pieces(bytes)) yield `${piece.length.toString(16)}\r\n${piece}\r\n`;
  yield '0\r\n\r\n';
}
