import { describe, expect, it } from '@jest/globals';
import { useDesk } from './desk.ts';
import { aLaunchContext, aPatient, type OpenLaunch } from './launches.ts';

const desk = useDesk();
const said = 'Another patient is open in another window.';

const launchFor = (patient = aPatient()) =>
  desk.application.openLaunch(aLaunchContext({ request: { patient } }));
const addressOf = ({ home }: OpenLaunch) => desk.application.url + home;

describe('several windows of one browser', () => {
  it('show a notice while they contain different patients, and never name a patient in their titles', async () => {
    const [mine, other] = [await launchFor(), await launchFor(aPatient({ birthDate: '1990-05-01' }))];
    const { browser, page, close } = await desk.open(mine);
    const again = await browser.newPage();
    await again.goto(addressOf(mine));
    const line = page.locator('#other-patients');
    // Also gives the browser the cookie of the second launch, which has the path of that launch.
    await browser.addCookies([{ ...other.browserCookie, path: other.home }]);
    const second = await browser.newPage();
    await second.goto(addressOf(other));
    for (const window of [page, again, second]) await window.getByText(said).waitFor();
    expect(await second.title()).toBe('Choose tests – Online test requesting');
    await second.close({ runBeforeUnload: false });
    await page.dispatchEvent('body', 'visibilitychange', { bubbles: true });
    await line.getByText(said).waitFor({ state: 'hidden' });
    await again.close();
    await close();
  });

  it('show no notice if they contain the same patient', async () => {
    const mine = await launchFor();
    const { browser, page, close } = await desk.open(mine);
    const again = await browser.newPage();
    await again.goto(addressOf(mine));
    // Waits until both windows have exchanged messages.
    await page.waitForTimeout(1500);
    expect(await page.locator('#other-patients').textContent()).toBe('');
    expect(await again.locator('#other-patients').textContent()).toBe('');
    await close();
  });
});

describe('a page shorter than its window', () => {
  it('has its footer at the bottom of the window', async () => {
    const { page, close } = await desk.open(await launchFor(), { viewport: { width: 1280, height: 800 } });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('We keep a request that you did not submit for 24 hours.').waitFor();
    const box = await page.locator('footer').boundingBox();
    expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBe(800);
    await close();
  });
});
