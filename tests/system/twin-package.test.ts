import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packPackage } from '@clinical-launch/testing/packed-package';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { root, run } from './run-command.ts';

const examples = `${root}docs/examples/`;

/** The test of a vendor: opens a launch twice, and another launch after its ten seconds. */
const productTest = `
  import { execFileSync } from 'node:child_process';
  const launch = () => execFileSync('node', ['launch.mjs', 'minimal.json'], { encoding: 'utf8' }).trim();
  const open = async (url) => (await fetch(url)).status;
  const [used, late] = [launch(), launch()];
  const statuses = [await open(used), await open(used)];
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ advanceSeconds: 11 });
  await fetch(process.env.BASE_URL + '/clock', { method: 'POST', headers, body });
  console.log('statuses', ...statuses, await open(late));
`;

type Workflow = {
  readonly jobs: { readonly launches: { readonly steps: readonly { run?: string; if?: string }[] } };
};

let packed: Awaited<ReturnType<typeof packPackage>>;
beforeAll(async () => {
  packed = await packPackage(`${root}tools/twin/build.ts`);
});
afterAll(() => packed.remove());

/** Creates the repository of a vendor, with the packed twin and the test of the product. */
async function createProduct(): Promise<string> {
  const product = join(packed.folder, 'product');
  await mkdir(product);
  await rename(packed.tarball, join(product, basename(packed.tarball)));
  await writeFile(join(product, 'product.mjs'), productTest);
  const scripts = { test: 'node product.mjs' };
  await writeFile(join(product, 'package.json'), JSON.stringify({ private: true, scripts }));
  for (const name of ['launch.mjs', 'minimal.json']) await copyFile(examples + name, join(product, name));
  return product;
}

describe('docs/examples/ci.yml', () => {
  it('installs the packed twin offline, and tests a product against it', async () => {
    const { jobs }: Workflow = parse(await readFile(`${examples}ci.yml`, 'utf8'));
    const steps = jobs.launches.steps.flatMap((step) => (step.if === undefined ? (step.run ?? []) : []));
    const port = String(await findFreePort());
    const stopTwin = 'kill $!\nwait $!\necho "the twin ended with $?"';
    const script = ['set -eo pipefail', ...steps, stopTwin].join('\n').replaceAll('8080', port);
    const product = await createProduct();
    const walked = run('bash', ['-c', `cd ${product}\n${script}`], { BASE_URL: `http://localhost:${port}` });
    expect([await walked.exited, walked.output()]).toEqual([
      0,
      expect.stringMatching(/\nstatuses 200 410 401\nthe twin ended with 0\n$/),
    ]);
  });
});
