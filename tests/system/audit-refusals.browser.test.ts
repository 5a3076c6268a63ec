import { localTime } from '@clinical-launch/contracts/time';
import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openStaffBrowser, signInAs } from './audit-staff.ts';
import { MovedClock } from './moved-clock.ts';
import { expectGoodPage } from './pictures.ts';
import { ofSystems, ofUsers, type PreparedRefusal } from './prepared-refusals.ts';
import { startPlatformForTest } from './running-platform.ts';

const clock = new MovedClock();
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let page: Page;
type Sent = { readonly guid: string; readonly username: string; readonly at: number };
const requests = new Map<string, Sent>();
const all = Object.entries({ ...ofUsers, ...ofSystems });

beforeAll(async () => {
  [platform, chromium] = await Promise.all([
    startPlatformForTest({
      clock,
      environment: {
        // Refusals per address are not limited, so each refusal has its own event.
        REFUSALS_PER_ADDRESS: '0',
      },
      // Nothing listens on port 9 (discard), so no document can be delivered.
      changeRegistry: (text) =>
        text.replace(/"url": "[^"]+callbacks"/, '"url": "http://127.0.0.1:9/callbacks"'),
    }),
    startChromium(),
  ]);
  for (const [name, refusal] of all) await send(name, refusal);
  const token = await platform.tokenOf('audit-demo');
  for (const [name, { type }] of all) await platform.storyOf(sentAs(name).guid, [type], token);
  ({ page } = await openStaffBrowser(chromium));
  await page.goto(`${platform.url}/audit/`);
  await signInAs(page, 'Ruth Adeyemi');
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

async function send(name: string, { send: sendIt }: PreparedRefusal): Promise<void> {
  const username = `user-${requests.size}`;
  const at = clock.now();
  requests.set(name, { guid: await sendIt({ platform, clock }, username), username, at });
}

function sentAs(name: string): Sent {
  const sent = requests.get(name);
  if (sent === undefined) throw new Error(`${name} was not sent`);
  return sent;
}

/** Searches with the form of the page, and returns the text of the next page. */
async function search(fields: Readonly<Record<string, string>>): Promise<string> {
  await page.goto(`${platform.url}/audit/`);
  await page.getByText('More', { exact: true }).click();
  for (const [id, value] of Object.entries(fields)) await page.locator(`[id="${id}"]`).fill(value);
  await Promise.all([
    page.waitForURL(/\/audit\/(launches\/|\?)/),
    page.getByRole('button', { name: 'Search', exact: true }).click(),
  ]);
  return page.getByRole('main').innerText();
}

function momentFields(name: string, instant: number): Record<string, string> {
  const [day = '', time = ''] = localTime(instant, 'Europe/London').split('T');
  const [year = '', month = '', date = ''] = day.split('-');
  return {
    [`${name}-day`]: date,
    [`${name}-month`]: month,
    [`${name}-year`]: year,
    [`${name}-time`]: time.slice(0, 5),
  };
}

describe('the audit pages, for a refusal or failure', () => {
  it('are tested with at least thirty refusals and failures', () => {
    expect(all.length).toBeGreaterThanOrEqual(30);
    expect(new Set([...requests.values()].map(({ guid }) => guid)).size).toBe(all.length);
  });

  it.each(all)('show the cause of %s in one search for its correlation id', async (name, { cause }) => {
    const text = await search({ q: sentAs(name).guid });
    const [, happened = '', advice = ''] =
      /What happened([^]*?)What to tell the caller([^]*?)Who was/.exec(text) ?? [];
    expect(happened).toMatch(cause);
    expect(advice.trim()).toMatch(/^[A-Z].{10,}/);
  });

  it.each(Object.entries(ofUsers))(
    'show the cause of %s in one search for practice, user and time',
    async (name, { cause }) => {
      const { username, at } = sentAs(name);
      const text = await search({
        user: username,
        practice: 'B82017',
        ...momentFields('from', at),
        ...momentFields('to', at + 60_000),
      });
      expect(text).toContain(username);
      expect(text).toMatch(cause);
    },
  );

  it('are accessible, and fit a narrow window', async () => {
    await search({ q: sentAs('a launch opened twice').guid });
    await expectGoodPage(page, 'audit-refused');
  });
});
