import { createHash, generateKeyPairSync } from 'node:crypto';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { root } from '../system/run-command.ts';
import { type Interpreter, itWith, program, recipe, startForClients } from './foreign-client.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = {
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  thumbprintSha256: createHash('sha256').update('certificate').digest('hex'),
};
const keyHolder = {
  clientId: 'pms-with-key',
  name: 'A practice management system with a key',
  secrets: [],
  jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'first' }] },
  scopes: ['ocs-launch.write'],
  practices: 'any',
};

let platform: Awaited<ReturnType<typeof startForClients>>;
beforeAll(async () => {
  platform = await startForClients({ clients: [keyHolder] });
});
afterAll(() => platform.stop());

/** Runs a program to its end, and returns the lines of its output. @throws Error if it fails */
async function linesOf(interpreter: Interpreter, code: string): Promise<string[]> {
  const { exited, output } = platform.start(interpreter, [platform.here(code)]);
  if ((await exited) !== 0) throw new Error(output());
  return output().trimEnd().split('\n');
}

describe('the client library of a PMS', () => {
  const code = recipe('MSAL for Node').replace("'minimal.json'", `'${root}docs/examples/minimal.json'`);
  const withKey = code
    .replace('pms-demo', keyHolder.clientId)
    .replace(/clientSecret: .*/, `clientCertificate: ${JSON.stringify(key)},`);

  for (const [credential, text] of [
    ['a secret', code],
    ['a key', withKey],
  ] as const)
    itWith(
      'node',
      `@azure/msal-node launches twice with ${credential}, and takes its second token from its cache`,
      async () => {
        const lines = await linesOf('node', text);
        const urls = lines.map((line) =>
          line.replace(/^.* token: /, '').replace(platform.url, platform.localUrl),
        );
        const statuses = await Promise.all(urls.map(async (url) => (await fetch(url)).status));
        expect([lines, statuses]).toEqual([
          [expect.stringMatching(/^new token: /), expect.stringMatching(/^cached token: /)],
          [200, 200],
        ]);
      },
    );

  const again = `
again = app.acquire_token_silent(["api://clinical-launch/.default"], account=None)
again = again or app.acquire_token_for_client(scopes=["api://clinical-launch/.default"])
assert again["access_token"] == answer["access_token"], "the second token is not from the cache"
print(answer["access_token"])`;
  const accepted = 'gets a token that launch-api accepts';
  const programs: readonly (readonly [string, Interpreter, string])[] = [
    [`@azure/identity ${accepted}`, 'node', `${recipe('Azure Identity')}console.log(token)`],
    [`MSAL for Python ${accepted}, and caches it`, 'python3', recipe('MSAL for Python') + again],
    [`requests-oauthlib ${accepted}`, 'python3', program('requests-oauthlib.py')],
    [`openid_connect for Ruby ${accepted}`, 'ruby', program('openid-connect.rb')],
  ];
  for (const [title, interpreter, code] of programs)
    itWith(interpreter, title, async () => {
      const token = (await linesOf(interpreter, code)).at(-1);
      const { status } = await fetch(`${platform.localUrl}/AccessApi/Validate`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Code-Challenge': 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        },
        body: JSON.stringify(aServiceRequest()),
      });
      expect(status).toBe(200);
    });
});
