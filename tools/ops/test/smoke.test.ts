import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from '../../../tests/system/running-platform.ts';
import { runOpsHere } from './run-ops.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let folder: string;
beforeAll(async () => {
  platform = await startPlatformForTest();
  folder = mkdtempSync(join(tmpdir(), 'smoke-'));
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

/** Writes a file with this content, as the options for secrets and tokens name it. Returns its path. */
function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${content}\n`);
  return path;
}

const agreed = '--practice B82017 --author a.okonkwo --clinician G8134567 --performer RCB00'.split(' ');
const smoke = (args: readonly string[], url = platform.localUrl) =>
  runOpsHere(['smoke', '--url', url, '--client', 'pms-demo', ...agreed, ...args], {});
const withSecret = (secret = 'pms-demo-secret') => ['--realm', 'demo', '--secret', fileOf('secret', secret)];

/** Forwards requests to the platform. Answers every launch URL as it was answered the first time. */
async function startForgetfulProxy() {
  let opened: string | undefined;
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request;
    const isLaunch = url.startsWith('/secureLaunch');
    if (isLaunch && opened !== undefined)
      return void response.setHeader('content-type', 'text/html').end(opened);
    const { authorization = '', cookie = '', 'content-type': type = '' } = headers;
    const answer = await fetch(platform.localUrl + url, {
      method,
      redirect: 'manual',
      headers: {
        authorization,
        cookie,
        'content-type': type,
        'code-challenge': String(headers['code-challenge']),
      },
      ...(method === 'POST' && { body: await buffer(request) }),
    });
    const body = await answer.text();
    if (isLaunch) opened = body;
    response.writeHead(answer.status, [...answer.headers].flat()).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('./clinical-launch smoke', () => {
  it('launches once through the address of --url, ends the session, and finds both in the audit trail', async () => {
    const audit = ['--audit-client', 'audit-demo', '--audit-secret', fileOf('audit', 'audit-demo-secret')];
    const { code, output, errors } = await smoke([...withSecret(), ...audit]);
    expect([code, errors]).toEqual([0, '']);
    expect(output.split('\n')).toEqual([
      'This launch of an invented patient stays in the audit trail. It creates no order.',
      'ok  access token',
      expect.stringMatching(/^ok {2}launch URL, correlation id [0-9a-f-]{36}$/),
      'ok  opened in a browser without scripts, and the session ended',
      'ok  a second use of the launch URL is answered 410',
      'ok  the audit trail has the launch and the end of its session',
      '',
    ]);
    const [id = ''] = /[0-9a-f-]{36}/.exec(output) ?? [];
    const reader = await platform.tokenOf('audit-demo');
    const types = (await platform.storyOf(id, ['launch.session.ended.v1'], reader)).map(({ type }) => type);
    expect(types).toContain('launch.token.redeemed.v1');
    expect(types.filter((type) => type.startsWith('order.'))).toEqual([]);
  });

  it('takes an access token of another issuer, and prints one JSON value with --json', async () => {
    const token = fileOf('token', await platform.tokenOf('pms-demo'));
    const { code, output } = await smoke(['--token', token, '--json']);
    expect([code, JSON.parse(output)]).toEqual([0, { correlationId: expect.any(String), isAudited: false }]);
  });

  it('fails with the answer of the platform if the client or a value is refused', async () => {
    const refused = await smoke(withSecret('wrong'));
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('401 invalid_client')]);
    const invalid = await smoke([...withSecret(), '--author', '']);
    expect([invalid.code, invalid.errors]).toEqual([2, expect.stringContaining('--author')]);
    const reader = await smoke(['--token', fileOf('token', await platform.tokenOf('audit-demo'))]);
    expect([reader.code, reader.errors]).toEqual([
      1,
      expect.stringMatching(/^RequestLaunchUrl was answered 403, not 200\n[^]*Correlation id /),
    ]);
  });

  it.each([
    ['nothing listens', (port: number) => `http://localhost:${port}`, 'ECONNREFUSED'],
    ['nothing has that name', () => 'http://no-platform.invalid', 'no-platform.invalid'],
  ])('names the address and the cause if %s there', async (_what, addressAt, why) => {
    const address = addressAt(await findFreePort());
    const token = ['--token', fileOf('token', 'a.b.c')];
    for (const credentials of [withSecret(), token]) {
      const { code, errors } = await smoke(credentials, address);
      expect([code, errors]).toEqual([1, expect.stringContaining(`${address} does not answer: `)]);
      expect(errors).toContain(why);
    }
  });

  it('fails if a second use of the launch URL opens it again', async () => {
    const proxy = await startForgetfulProxy();
    const { code, errors } = await smoke(withSecret(), proxy.url);
    proxy.server.close();
    expect([code, errors.trim()]).toEqual([1, 'A second use of the launch URL was answered 200, not 410']);
  });

  it('exits with 2, and names what is missing, without a secret or a token', async () => {
    const { code, errors } = await smoke(['--audit-client', 'audit-demo']);
    expect([code, errors]).toEqual([
      2,
      '--realm is missing\n--secret is missing\n--audit-secret is missing\n',
    ]);
  });
});
