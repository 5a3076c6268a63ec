import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { exampleServiceRequest } from '@clinical-launch/contracts/published/example-service-request';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { root, run } from '../run-command.ts';
import { startPlatformForTest } from '../running-platform.ts';

/** A program that uses the generated clients as an integrator would. */
const program = `
import { createHash, randomBytes } from 'node:crypto';
import * as idp from './idp.ts';
import * as launchApi from './launch-api.ts';

const [, , baseUrl = ''] = process.argv;
idp.defaults.baseUrl = baseUrl;
launchApi.defaults.baseUrl = baseUrl;

const token = await idp.requestToken({
  realm: 'demo',
  body: {
    grant_type: 'client_credentials',
    client_id: 'pms-demo',
    client_secret: 'pms-demo-secret',
    scope: 'api://clinical-launch/.default',
  },
});
if (token.status !== 200) throw new Error('token: ' + token.status);

const codeVerifier = randomBytes(64).toString('base64url');
const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
const headers = { Authorization: 'Bearer ' + token.data.access_token };
const serviceRequest: launchApi.ServiceRequest = ${JSON.stringify(exampleServiceRequest(defaultNamespaces))};
const requested = await launchApi.requestLaunchUrl({ codeChallenge, serviceRequest }, { headers });
if (requested.status !== 200) throw new Error('launch URL: ' + requested.status);

const launchToken = new URL(requested.data.url).searchParams.get('launchToken') ?? '';
const opened = await launchApi.openLaunchUrl({ launchToken, codeVerifier });
const again = await launchApi.openLaunchUrl({ launchToken, codeVerifier });
const refused = await launchApi.requestLaunchUrl({ codeChallenge, serviceRequest: { ...serviceRequest, subject: { reference: '#nobody' } } }, { headers });
const paths = refused.status === 400 ? refused.data.errors?.map(({ path }) => path) : [];
console.log(JSON.stringify({ url: requested.data.url, opened: opened.status, again: again.status, paths }));
`;

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

let directory: string;
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
  directory = await mkdtemp(join(tmpdir(), 'clinical-launch-clients-'));
  await symlink(`${root}node_modules`, join(directory, 'node_modules'));
  await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await writeFile(join(directory, 'program.ts'), program);
});
afterAll(async () => {
  await platform.stop();
  await rm(directory, { recursive: true });
});

/** Runs a program, and returns its output. Appends the exit code if it is not 0. */
async function printed(...command: readonly string[]): Promise<string> {
  const started = run(process.execPath, [...command]);
  const code = await started.exited;
  return code === 0 ? started.output().trim() : `exit code ${code}: ${started.output()}`;
}

it('a client generated from the OpenAPI documents requests a token, requests a launch URL and opens it', async () => {
  for (const [path, name] of [
    ['/idp/openapi.json', 'idp'],
    ['/AccessApi/openapi.json', 'launch-api'],
  ]) {
    const document = join(directory, `${name}.json`);
    await writeFile(document, await (await fetch(platform.url + path)).text());
    const client = join(directory, `${name}.ts`);
    const generator = fileURLToPath(new URL('cli.js', import.meta.resolve('oazapfts')));
    expect(await printed(generator, document, client, '--argumentStyle=object')).toBe('');
  }
  expect(await printed(`${root}node_modules/typescript/bin/tsc`, '-p', directory)).toBe('');
  const reported = JSON.parse(await printed(join(directory, 'program.ts'), platform.url)) as { url: string };
  expect(reported).toEqual({
    url: expect.stringContaining(`${platform.url}/secureLaunch?launchToken=`),
    opened: 200,
    again: 410,
    paths: ['subject.reference'],
  });
}, 30_000);
