import { execFile } from 'node:child_process';
import { type Platform, startPlatform } from '@clinical-launch/platform/platform';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { submissionOf } from '@clinical-launch/simulators/play/order-tests';
import { startChromium } from '@clinical-launch/testing/chromium';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectAccessible, expectNoSidewaysScrolling, follow } from './accessibility.ts';
import { root } from './run-command.ts';

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let platform: Platform;
let clock: TestClock;
let lines: string[];
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  clock = new TestClock();
  const recorded = createRecordedLogger('info');
  lines = recorded.lines;
  const environment = { PORT: '0', DATABASE_URL: testDatabase.url };
  platform = await startPlatform({ environment, clock, logger: recorded.logger });
});
afterEach(() => platform.stop());

/**
 * Orders a test for the first patient in a browser without JavaScript, so that the page of the PMS receives
 * no document.
 */
async function order(): Promise<string> {
  const browser = new Browser();
  const launch = new URLSearchParams({ patient: await firstPatient(), action: 'OrderTest' });
  const choose = await browser.open(`${platform.publicUrl}/demo/pms/launches`, launch);
  const [, test = ''] = /name="test" type="checkbox" value="([^"]+)"/.exec(choose.html) ?? [];
  const review = await browser.open(choose.url, new URLSearchParams({ test, action: 'review' }));
  const result = await browser.open(review.url, submissionOf(review));
  const [, guid] = /src="\/orders\/([0-9a-f-]{36})\/notepad/.exec(result.html) ?? [];
  if (guid === undefined) throw new Error(`The request was not submitted: ${result.status} ${result.url}`);
  return guid;
}

async function record(): Promise<string> {
  return (await fetch(`${platform.publicUrl}/demo/pms`)).text();
}

async function firstPatient(): Promise<string> {
  const [, patient = ''] = /name="patient" value="([^"]+)"/.exec(await record()) ?? [];
  return patient;
}

/** Waits until the record contains the expected content, and resolves with the record. */
async function recordShows(pattern: RegExp): Promise<string> {
  let html = '';
  await until(
    async () => pattern.test((html = await record())),
    () => `the record shows ${String(pattern)}:\n${html}`,
  );
  return html;
}

/** Waits until `times` attempts to deliver an order have failed. */
async function failed(guid: string, times: number): Promise<void> {
  const isFailure = (line: string) => line.includes(guid) && line.includes('document not delivered');
  await until(() => lines.filter(isFailure).length >= times);
}

async function answerCallbacks(answer: string): Promise<void> {
  const form = new URLSearchParams({ answer, patient: await firstPatient() });
  const address = `${platform.publicUrl}/demo/pms/callbacks/answer`;
  const response = await fetch(address, { method: 'POST', body: form });
  expect(response.status).toBe(200);
}

/** Runs the command `deliveries` of the operator's tool without npm, as in a container. */
function deliveries(...args: string[]): Promise<string> {
  const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const environment = { PATH, TMPDIR, NODE_COMPILE_CACHE, DATABASE_URL: testDatabase.url };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['tools/ops/src/main.ts', 'deliveries', ...args],
      { cwd: root, env: environment },
      (error, output, complaints) => (error === null ? resolve(output) : reject(new Error(complaints))),
    );
  });
}

const isFiled = (guid: string) => new RegExp(`Request ${guid}[^]*Arrived by callback\\.`);

describe('the order document', () => {
  it('arrives at the callback address of the PMS without any message from the browser', async () => {
    const guid = await order();
    const html = await recordShows(isFiled(guid));
    expect(html.match(/<pre /g)).toHaveLength(1);
    expect(html).toContain('&lt;onlineOrder');
  });

  it('arrives at the third attempt if the PMS refuses it twice', async () => {
    await answerCallbacks('refuse-two');
    const guid = await order();
    await failed(guid, 1);
    clock.advance({ seconds: 5 });
    await failed(guid, 2);
    expect(await record()).toMatch(/answered 503[^]*answered 503/);
    expect(await record()).not.toContain(guid);
    clock.advance({ seconds: 10 });
    await recordShows(isFiled(guid));
  });

  it('is listed as a dead delivery after 24 hours of failures, and can be replayed', async () => {
    await answerCallbacks('refuse');
    const guid = await order();
    await failed(guid, 1);
    clock.advance({ seconds: 24 * 3600 });
    await failed(guid, 2);
    const dead = await deliveries('list');
    const listed = JSON.parse(dead) as { orderGuid: string; messageId: string };
    expect(listed).toMatchObject({
      orderGuid: guid,
      clientId: 'pms-demo',
      lastFailure: 'not_accepted',
      lastStatus: 503,
    });
    expect(dead).not.toContain('onlineOrder');
    await answerCallbacks('take');
    expect(await deliveries('replay', listed.messageId)).toBe(`${listed.messageId}\n`);
    await recordShows(isFiled(guid));
    expect(await deliveries('list')).toBe('');
  });

  it('is refused by the PMS if it has no signature', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ type: 'order.document' });
    const address = `${platform.publicUrl}/demo/pms/callbacks`;
    expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(400);
    expect((await fetch(address, { method: 'POST', body: 'hello' })).status).toBe(400);
  });
});

describe('the page of the PMS', () => {
  it.each([1280, 390])(
    'shows a document only once if it arrives by message and by callback, and is accessible at %i px',
    async (width) => {
      const chromium = await startChromium();
      try {
        const context = await chromium.newContext({ viewport: { width, height: 900 } });
        const pms = await context.newPage();
        await pms.goto(platform.publicUrl);
        await follow(pms, /whitfield/i);
        const opened = context.waitForEvent('page');
        await pms.getByRole('button', { name: 'Order tests', exact: true }).click();
        const oltr = await opened;
        // Uses the search, because a narrow window hides the medical tests of a group until the group is
        // opened. The search needs the script of the page.
        await oltr.waitForLoadState();
        await oltr.getByLabel('Search for a test').fill('full blood count');
        await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
        await oltr.getByRole('button', { name: 'Review request' }).click();
        await oltr.getByRole('button', { name: 'Submit request' }).click();
        await oltr.getByRole('heading', { name: 'Request submitted' }).waitFor();
        await pms
          .getByText(/Arrived (to this page and by callback|by callback and to this page)\./)
          .waitFor();
        expect(await pms.locator('pre').count()).toBe(1);
        expect(await pms.locator('#callbacks').innerText()).toMatch(/Callbacks are accepted\.[^]*filed/);
        await expectAccessible(pms);
        await expectNoSidewaysScrolling(pms);
      } finally {
        await chromium.close();
      }
    },
  );
});
