import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeTextsOf } from '@clinical-launch/testing/xml';
import { afterAll, describe, expect, it } from '@jest/globals';
import { pagesFolder } from '../../../tools/docs/developer-pages.ts';
import { run } from '../run-command.ts';
import { exampleOf } from './described.ts';
import { liveRequests, readOperations } from './live-requests.ts';
import { startServices } from './running-services.ts';

const running = await startServices();
const operations = await readOperations(running.url);
const { token } = liveRequests(running.url, operations);
const folder = mkdtempSync(join(tmpdir(), 'snippets-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await running.stop();
});

/** The file and the command of each language. The tests do not install .NET. */
const languages = {
  curl: ['call.sh', '/bin/sh'],
  Node: ['call.mjs', process.execPath],
  Python: ['call.py', process.env['PYTHON_PATH'] || 'python3'],
  Java: ['Call.java', process.env['JAVA_PATH'] || 'java'],
} as const;

/** Returns the call of an operation as its page shows it. */
async function shownCall(slug: string, operationId: string, language: string): Promise<string> {
  const page = readFileSync(new URL(`reference/${slug}.html`, pagesFolder), 'utf8');
  const calls = `//details[preceding-sibling::h2[1]/@id='${operationId}'][summary='${language}']/pre`;
  const [call = ''] = await nodeTextsOf(`<page>${page}</page>`, calls);
  return call;
}

describe.each(Object.entries(languages))('the call of an operation in %s', (language, [file, command]) => {
  it.each([
    ['a GET', 'identity-provider', 'getConfiguration'],
    ['a form', 'identity-provider', 'requestToken'],
    ['JSON and an access token', 'launch-api', 'validate'],
  ])('sends %s, copied from the reference', async (_what, slug, operationId) => {
    const operation = operations.get(operationId);
    if (operation === undefined) throw new TypeError(operationId);
    writeFileSync(join(folder, file), await shownCall(slug, operationId, language));
    writeFileSync(join(folder, 'request.json'), JSON.stringify(exampleOf(operation).json ?? null));
    const environment = { BASE_URL: running.url, TOKEN: await token() };
    const { exited, output } = run(
      'sh',
      ['-c', 'cd "$0" && exec "$1" "$2"', folder, command, file],
      environment,
    );
    expect([await exited, output()]).toEqual([0, expect.stringMatching(/\b200 /)]);
  });
});
