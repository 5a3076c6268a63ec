import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { useDesk } from './desk.ts';
import { aLaunchContext, aPatient, neededFor, rowsOf, tickedIn } from './launches.ts';

const desk = useDesk();

async function open() {
  const launch = await desk.application.openLaunch(aLaunchContext({ request: { patient: aPatient() } }));
  const opened = await desk.open(launch, { viewport: { width: 1280, height: 720 } });
  return { launch, ...opened, banner: opened.page.locator('#connection') };
}

describe('the page without a connection', () => {
  it('searches the tests on the page, and asks the server again once the connection is back', async () => {
    const { browser, page, banner, close } = await open();
    await browser.setOffline(true);
    await page.locator('#search').fill('thyroid');
    await banner.getByText('No connection.').waitFor();
    const found = page.locator('#group-matches .app-tests > :not([hidden])');
    await found.first().waitFor();
    expect(await found.allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\s*thyroid/i)]),
    );
    expect(await page.locator('#test-HFBC').isVisible()).toBe(false);
    await page.locator('#search').fill('fbc u&e');
    await page.getByText('Press Enter to add FBC and U&E').waitFor();
    await browser.setOffline(false);
    await banner.getByText('No connection').waitFor({ state: 'detached' });
    await page.locator('#search').fill('tft');
    await page.locator('#matches').getByText('Press Enter to add').waitFor();
    await close();
  });

  it('keeps the ticked tests, shows a message, and sends the tests when the connection is back', async () => {
    const { launch, browser, page, banner, close } = await open();
    await page.locator('#test-HFBC').check();
    await page.locator('#bar-count').getByText('1 test chosen').waitFor({ state: 'attached' });
    await browser.setOffline(true);
    await page.locator('#test-BUE').check();
    await page.locator('#test-BLFT').check();
    await page.locator('#test-HFBC').uncheck();
    await banner.getByText('Your choices will be sent when the connection is back').waitFor();
    expect(tickedIn(await launch.page())).toEqual(['HFBC']);
    await browser.setOffline(false);
    // Waits for BLFT. Waiting for two tests would end too early: when the page has sent only BUE, the chosen
    // tests are HFBC and BUE.
    await until(async () => tickedIn(await launch.page()).includes('BLFT'));
    expect(tickedIn(await launch.page())).toEqual(['BUE', 'BLFT']);
    await page.locator('#bar-count').getByText('2 tests chosen').waitFor({ state: 'attached' });
    await banner.getByText('No connection').waitFor({ state: 'detached' });
    await close();
  });

  it('shows a message instead of submitting, and submits the order once the connection is back', async () => {
    const { launch, browser, page, banner, close } = await open();
    await page.locator('#test-HFBC').check();
    await page.locator('#chosen button[value="review"]').click();
    await page.waitForURL(/review$/);
    expect(neededFor(await page.content())).toEqual([]);
    await page.locator('#details').fill('Tired');
    await browser.setOffline(true);
    await page.locator('button[value="submit"]').click();
    await banner.getByText('Nothing was sent').waitFor();
    expect([await page.locator('h1').innerText(), await page.locator('#details').inputValue()]).toEqual([
      'Review the request',
      'Tired',
    ]);
    expect(await rowsOf(desk.application, launch)).toEqual([]);
    await browser.setOffline(false);
    await banner.getByText('No connection').waitFor({ state: 'detached' });
    await page.locator('button[value="submit"]').dblclick();
    await page.waitForURL(/\/orders\//);
    const rows = await rowsOf(desk.application, launch);
    expect(rows.map(({ clinical_details }) => clinical_details)).toEqual(['Tired']);
    await close();
  });

  it('stays on the page and shows a message when the user presses “Review request”', async () => {
    const { browser, page, banner, close } = await open();
    await page.locator('#test-HFBC').check();
    await page.locator('#bar-count').getByText('1 test chosen').waitFor({ state: 'attached' });
    await browser.setOffline(true);
    await page.locator('#chosen button[value="review"]').click();
    await banner.getByText('Nothing was sent').waitFor();
    expect(await page.locator('h1').innerText()).toBe('Choose tests');
    await close();
  });
});
