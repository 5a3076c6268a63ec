import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packPackage } from '@clinical-launch/testing/packed-package';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { root, run } from './run-command.ts';

const examples = `${root}docs/examples/`;

/** A vendor's test: opens a launch URL twice, and opens another launch URL after it has expired. */
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

type Step = {
  readonly run?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
};
type Workflow = { readonly jobs: { readonly launches: { readonly steps: readonly Step[] } } };

let packed: Awaited<ReturnType<typeof packPackage>>;
beforeAll(async () => {
  packed = await packPackage(`${root}sandbox/twin/build.ts`);
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
  for (const name of ['launch.mjs', 'serve.mjs', 'minimal.json', 'expected.json'])
    await copyFile(examples + name, join(product, name));
  return product;
}

describe('docs/examples/ci.yml', () => {
  it('installs the packed twin offline, tests a product against it, and certifies the product', async () => {
    const { jobs }: Workflow = parse(await readFile(`${examples}ci.yml`, 'utf8'));
    const steps = jobs.launches.steps.filter((step) => step.if === undefined).map(scriptOf);
    const stop = 'kill %1\nwait %1\necho "the twin ended with $?"\nkill %2';
    let script = ['set -emo pipefail', ...steps, stop].join('\n');
    const [port, ...otherPorts] = [await findFreePort(), await findFreePort(), await findFreePort()];
    for (const [index, used] of ['8080', '8081', '9000'].entries())
      script = script.replaceAll(used, String([port, ...otherPorts][index]));
    const product = await createProduct();
    const environment = { BASE_URL: `http://localhost:${port}`, PORT: String(otherPorts[1]) };
    const walked = run('bash', ['-c', `cd ${product}\n${script}`], environment);
    expect([await walked.exited, walked.output()]).toEqual([
      0,
      expect.stringMatching(
        /\nstatuses 200 410 401\n.*\nThe results are as expected\n.*\nthe twin ended with 0\n$/s,
      ),
    ]);
  });
});

/** Returns the commands of a step with its environment. A step starts programs that later steps use. */
function scriptOf({ run: commands = '', env = {} }: Step): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
  return [...variables, commands].join('\n');
}
