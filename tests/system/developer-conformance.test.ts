import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { until } from '@clinical-launch/testing/until';
import { expect, it } from '@jest/globals';
import { root, run, startDemo } from './run-command.ts';

type Report = {
  readonly state: string;
  readonly step?: { readonly id: string; readonly action: string; readonly pauseSeconds?: number };
  readonly requirements: readonly {
    readonly id: string;
    readonly result: string;
    readonly finding?: string;
  }[];
};

const clientId = 'sandbox-pms';
const clientSecret = 'sandbox-pms-secret';
const callbackSecret = `whsec_${createHash('sha256').update(`callback of ${clientId}`).digest('base64')}`;
const attested = ['pms.secrets-stored', 'pms.reference-shown', 'pms.callback-filed-once'];

/** Signs in to the developer portal. Returns a function that sends requests with the session. */
async function signIn(url: string) {
  const token = await fetch(`${url}/idp/demo/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: 'api://clinical-launch/.default',
    }),
  });
  const { access_token: accessToken }: { readonly access_token: string } = JSON.parse(await token.text());
  const headers = { Authorization: `Bearer ${accessToken}` };
  const session = await fetch(`${url}/developers/session`, { method: 'POST', headers });
  const { url: address }: { readonly url: string } = JSON.parse(await session.text());
  const opened = await fetch(`${url}/developers/session/open`, {
    method: 'POST',
    body: new URL(address).searchParams,
    redirect: 'manual',
  });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (path: string, fields?: Readonly<Record<string, string>>, accept = 'text/html') =>
    fetch(`${url}${path}`, {
      redirect: 'manual',
      headers: { Cookie: cookie, Accept: accept },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    });
}

it.each([
  ['Python', process.env['PYTHON_PATH'] || 'python3', 'serve.py'],
  ['Node', process.execPath, 'serve.mjs'],
])(
  'the example PMS in %s passes a conformance run of the portal, and an operator verifies its signed statement',
  async (_name, command, file) => {
    const url = await startDemo();
    const visit = await signIn(url);
    const pms = run(command, [`${root}docs/examples/${file}`], {
      BASE_URL: `${url}/developers/api/${clientId}`,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret,
      CALLBACK_SECRET: callbackSecret,
      PORT: String(await findFreePort()),
      PYTHONDONTWRITEBYTECODE: '1',
    });
    const [, own] = await pms.said(/^ready (.*)$/m);
    expect((await visit('/developers/callbacks', { address: `${own}/callbacks` })).status).toBe(303);
    const names = Object.fromEntries(attested.map((id) => [id, 'Ada Okonkwo']));
    const path = (await visit('/developers/runs', names)).headers.get('location') ?? '';
    const reportOf = async (): Promise<Report> =>
      JSON.parse(await (await visit(path, undefined, 'application/json')).text());

    let last: string | undefined;
    await until(async () => {
      const { step } = await reportOf();
      if (step === undefined) return true;
      // The developer launches again after the seconds in Retry-After.
      if (step.id === last) await pause((step.pauseSeconds ?? 0) * 1000);
      last = step.id;
      if (step.action !== 'wait') await fetch(`${own}/${step.action}`);
      return false;
    });
    const { requirements } = await reportOf();
    expect(requirements.filter(({ result }) => !/^(?:passed|attested)$/.test(result))).toEqual([]);

    const folder = mkdtempSync(join(tmpdir(), 'statement-'));
    try {
      const [statement, keys] = [join(folder, 'statement.jws'), join(folder, 'keys.json')];
      writeFileSync(statement, await (await visit(`${path}/statement`)).text());
      writeFileSync(keys, await (await fetch(`${url}/developers/statement-keys`)).text());
      const verify = ['conformance', 'verify', statement, '--keys', keys, '--issuer', url];
      const verified = run(process.execPath, [`${root}tools/ops/src/main.ts`, ...verify]);
      expect([await verified.exited, verified.output()]).toEqual([
        0,
        expect.stringContaining('pms.token-reused'),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
