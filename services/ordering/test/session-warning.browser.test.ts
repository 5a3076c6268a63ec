import { describe, expect, it } from '@jest/globals';
import { useDesk } from './desk.ts';
import { aLaunchContext, aPatient } from './launches.ts';

const desk = useDesk();

const aContext = () => aLaunchContext({ request: { patient: aPatient() } });

/** Opens a launch in a browser. `advance` moves the clocks of the browser and the server together. */
async function open(chainSeconds?: number) {
  const launch = await desk.application.openLaunch(
    aContext(),
    chainSeconds === undefined ? {} : { chainSeconds },
  );
  const opened = await desk.open(launch, {
    // Stops the clock between the steps of a test, so that the time that a step takes does not matter.
    prepare: async ({ clock }) => {
      await clock.install({ time: 0 });
      await clock.pauseAt(desk.application.clock.now());
    },
  });
  return {
    launch,
    ...opened,
    warning: opened.page.getByRole('alertdialog'),
    advance: async (seconds: number) => {
      desk.application.clock.advance({ seconds });
      await opened.browser.clock.runFor(seconds * 1000);
    },
  };
}

describe('the end of a session', () => {
  it('is announced two minutes before by a warning whose button extends the session on the same page', async () => {
    const { launch, page, warning, advance, close } = await open();
    await page.getByText('Practice order sets').click();
    await page.locator('#set-name').fill('Annual review');
    await advance(28 * 60 - 2);
    expect(await warning.isVisible()).toBe(false);
    await advance(3);
    await warning.waitFor();
    expect(await warning.innerText()).toContain('Your session ends in 2 minutes');
    const button = warning.getByRole('button', { name: 'Stay signed in' });
    expect(await button.evaluate((node) => node === node.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await warning.waitFor({ state: 'hidden' });
    expect(await page.locator('#set-name').inputValue()).toBe('Annual review');
    await advance(28 * 60 - 2);
    expect([await warning.isVisible(), (await launch.send('')).status]).toEqual([false, 200]);
    await close();
  });

  it('is postponed by requests of the page’s script, and by another window of the launch', async () => {
    const { launch, page, browser, warning, advance, close } = await open();
    await advance(28 * 60 - 2);
    await page.locator('#test-HFBC').check();
    await page.locator('#bar-count').getByText('1 test chosen').waitFor({ state: 'attached' });
    await advance(28 * 60 - 2);
    const other = await browser.newPage();
    await other.goto(desk.application.url + launch.home);
    await advance(28 * 60 - 2);
    expect(await warning.isVisible()).toBe(false);
    await close();
  });

  it('removes the patient from the page and shows the next step, and the server answers 401', async () => {
    const { launch, page, advance, close } = await open();
    await advance(30 * 60 + 1);
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    const shown = await page.locator('body').innerText();
    expect(shown).toContain('Start again from your practice system');
    expect(shown).not.toMatch(/Whitfield|Quayside|Sign out/i);
    expect(await page.title()).not.toMatch(/Whitfield/i);
    expect((await launch.send('')).status).toBe(401);
    await close();
  });

  it('is announced instead of shown while only the clock of the computer says so, and the server does not', async () => {
    const { launch, page, browser, warning, advance, close } = await open();
    await browser.clock.fastForward(3600 * 1000);
    await warning.waitFor();
    expect(await warning.innerText()).toContain('Your session ends in 2 minutes');
    expect(await page.locator('.app-patient').innerText()).toMatch(/Whitfield/i);
    await warning.getByRole('button', { name: 'Stay signed in' }).click();
    await warning.waitFor({ state: 'hidden' });
    // The question of the page does not extend the session.
    await advance(30 * 60 - 1);
    await browser.clock.fastForward(3600 * 1000);
    await warning.waitFor();
    await advance(2 * 60);
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect((await launch.send('')).status).toBe(401);
    await close();
  });

  it('cannot be postponed beyond the absolute end of the launch, and the warning states this', async () => {
    const { launch, warning, page, advance, close } = await open(20 * 60);
    await advance(18 * 60 + 1);
    await warning.waitFor();
    expect(await warning.innerText()).toContain('cannot be extended further');
    await warning.getByRole('button', { name: 'Continue' }).click();
    await warning.waitFor({ state: 'hidden' });
    await page.locator('#test-HFBC').check();
    await page.locator('#bar-count').getByText('1 test chosen').waitFor({ state: 'attached' });
    await advance(2 * 60);
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    expect((await launch.send('')).status).toBe(401);
    await close();
  });
});
