import { readFileSync } from 'node:fs';
import {
  actions as knownActions,
  type LaunchRequest as ReadLaunchRequest,
} from '@clinical-launch/contracts/launch-context';
import { defaultNamespaces as usedNamespaces } from '@clinical-launch/contracts/namespaces';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { actions, defaultNamespaces, type LaunchRequest } from '../src/index.ts';
import { installPackage, startPlatform, supportedNodes } from './installed-package.ts';

let installed: Awaited<ReturnType<typeof installPackage>>;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => installed.remove());

const secret = `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`;
const aDocument = {
  orderGuid: '42',
  orderVersion: 1,
  launchId: '1',
  messageId: '1',
  document: '<onlineOrder/>',
};
/** Posts the callback in `BODY` to the receiver of the example, first unchanged and then altered. */
const sendingToItself = `
  import type { AddressInfo } from 'node:net';
  const { BODY = '', HEADERS = '' } = process.env;
  receiver.listen(0, '127.0.0.1', async () => {
    const url = 'http://127.0.0.1:' + (receiver.address() as AddressInfo).port;
    const post = async (body: string) =>
      (await fetch(url, { method: 'POST', headers: JSON.parse(HEADERS), body })).status;
    console.log(await post(BODY), await post(BODY + ' '));
    receiver.close();
  });
`;
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, source = '']) => source);

describe('the installed package', () => {
  it('has a manifest without dependencies, but with a licence and the supported Node versions', async () => {
    const manifest = await installed.manifest();
    expect(manifest).toMatchObject({ license: 'Apache-2.0', engines: { node: '>=20' }, version: '1.0.0' });
    for (const name of ['private', 'scripts', 'dependencies', 'devDependencies', 'repository'])
      expect(manifest).not.toHaveProperty(name);
  });

  it('has type declarations that compile without the types of Node or the browser', async () => {
    const source = `
      import * as client from '@clinical-launch/pms-client';
      export const launched: Promise<client.Launch> = client
        .createPmsClient({ baseUrl: '', tokenUrl: '', clientId: '', clientSecret: '', scope: '' })
        .requestLaunch({});
      export const { code }: client.CallbackRefused = new client.CallbackRefused('stale', 'late');
      export const status: number = new client.LaunchRefused({
        status: 400, correlationId: '', faults: [], retryAfterSeconds: undefined,
      }).status;
    `;
    await expect(installed.compile(source)).resolves.toBeUndefined();
  });

  it('has types that report a wrong argument at compile time', async () => {
    const source = `
      import { buildServiceRequest } from '@clinical-launch/pms-client';
      buildServiceRequest({ action: 'OrderTests' });
    `;
    await expect(installed.compile(source)).rejects.toThrow(/'"OrderTests"' is not assignable/);
  });
});

describe('the examples in the README', () => {
  const launching = `${examples.slice(0, 2).join('\n')}\nconsole.log(await launch(order));\n`;
  let platform: Awaited<ReturnType<typeof startPlatform>>;
  beforeAll(async () => {
    await installed.addNodeTypes();
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());

  it('launch the OLTR application on every supported Node version that this machine has', async () => {
    await installed.compile(launching, { types: ['node'] });
    const environment = { OLTR_URL: platform.url, CLIENT_SECRET: 'pms-demo-secret' };
    for (const node of await supportedNodes()) {
      const output = await installed.run(node, 'main.js', environment);
      const [, launchUrl = ''] = /^launched as [0-9a-f-]{36}\n(http\S+)\n$/.exec(output) ?? [];
      const opened = await fetch(launchUrl);
      expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('/oltr/')]);
      expect((await fetch(launchUrl)).status).toBe(410);
    }
  });

  it('accept a signed callback, and answer 400 to an altered callback', async () => {
    const [, , receiving = ''] = examples;
    await installed.compile(`${receiving}\n${sendingToItself}`, { types: ['node'] });
    const body = JSON.stringify({
      type: 'order.document',
      timestamp: '2026-11-21T09:30:00Z',
      data: aDocument,
    });
    const now = new Date();
    const headers = {
      'webhook-id': '1',
      'webhook-timestamp': String(Math.trunc(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('1', now, body),
    };
    const environment = { CALLBACK_SECRETS: secret, BODY: body, HEADERS: JSON.stringify(headers) };
    for (const node of await supportedNodes()) {
      expect(await installed.run(node, 'main.js', environment)).toBe(
        'file 14 characters of order 42 once for 1\n204 400\n',
      );
    }
  });
});

describe('the values and types that the package copies from libs/contracts', () => {
  it('are equal to the originals, although the package does not import libs/contracts', () => {
    expect({ actions, defaultNamespaces }).toEqual({
      actions: knownActions,
      defaultNamespaces: usedNamespaces,
    });
    // These functions compile only if both types are assignable to each other.
    const sent = (request: LaunchRequest): ReadLaunchRequest => request;
    const read = (request: ReadLaunchRequest): LaunchRequest => request;
    expect([sent, read]).toHaveLength(2);
  });
});
