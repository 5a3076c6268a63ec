import { startChromium } from '@clinical-launch/testing/chromium';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { startTwin, type Twin } from '@clinical-launch/twin/twin';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { expectGoodPage } from './pictures.ts';

const { logger } = createRecordedLogger();
let twin: Twin;
let chromium: Browser;
beforeAll(async () => {
  const starting = startTwin({ port: 0, host: '127.0.0.1', logger, environment: {} });
  [twin, chromium] = await Promise.all([starting, startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await twin.stop();
});

/** Starts a run in which a person attests one requirement. Returns the run and its address. */
function startRun() {
  const run = twin.runs.start({
    clientId: 'pms-demo',
    protocol: 'pms',
    attestations: { 'pms.secrets-stored': '<b>Ada</b> Okonkwo' },
  });
  return { run, address: `${twin.url}/developers/runs/${run.id}` };
}

it('the page of a conformance run shows each step and result, without scripts', async () => {
  const { run, address } = startRun();
  const context = await chromium.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  await page.getByText('Step 1 of 10: Launch a patient with OrderTest').waitFor();
  run.skip();
  // The page refreshes itself.
  await page.getByText('Step 2 of 10').waitFor();
  run.finish();
  await page.getByText('The run has finished. This result is not signed').waitFor();
  const row = (name: RegExp) => page.getByRole('row', { name });
  expect(await row(/pms\.secrets-stored/).innerText()).toMatch(
    /Attested by <b>Ada<\/b> Okonkwo[^]*Attested$/,
  );
  expect(await row(/pms\.token-reused/).innerText()).toMatch(/Not seen$/);
  await context.close();
});

it('the page of a conformance run is accessible while it runs and at its end', async () => {
  const complaints: string[] = [];
  const { run, address } = startRun();
  const page = await chromium.newPage();
  page.on('console', (message) => complaints.push(message.text()));
  // A page that refreshes itself would interrupt the check.
  await page.route(address, async (route) => {
    const response = await route.fetch();
    const { refresh: _refresh, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  await page.goto(address);
  await page.getByText('Step 1 of 10').waitFor();
  await expectGoodPage(page, 'conformance-run');
  run.finish();
  await page.reload();
  await page.getByText('The run has finished').waitFor();
  await expectGoodPage(page, 'conformance-run');
  expect(complaints).toEqual([]);
});
