import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { useDesk } from './desk.ts';
import { aLaunchContext, aPatient, chooseAndReview } from './launches.ts';

const desk = useDesk();

async function openReview() {
  const context = aLaunchContext({ request: { patient: aPatient() } });
  const launch = await chooseAndReview(desk.application, ['HFBC'], context);
  const opened = await desk.open(launch);
  await opened.page.goto(`${desk.application.url}${launch.home}review`);
  return { launch, ...opened, status: opened.page.locator('#saved') };
}

describe('the review page', () => {
  it('saves the draft while the user types, and shows “Saved”', async () => {
    const { launch, page, status, close } = await openReview();
    await page.locator('#details').fill('Tired for a month');
    await page.getByLabel('Urgent').check();
    await status.getByText('Saved').waitFor();
    const html = await launch.page('review');
    expect(html).toMatch(/<textarea[^>]*>Tired for a month</);
    expect(html).toMatch(/value="urgent" checked/);
    await close();
  });

  it('saves the last typed text when the window closes or the user goes back', async () => {
    const { launch, page, close } = await openReview();
    await page.locator('#details').fill('Typed before Back');
    await page.goBack();
    const typed = async () => /<textarea[^>]*>([^<]*)</.exec(await launch.page('review'))?.[1];
    await until(async () => (await typed()) === 'Typed before Back');
    expect(await page.locator('h1').innerText()).toBe('Choose tests');
    await page.locator('#chosen button[value="review"]').click();
    await page.locator('#details').fill('Typed before the window closed');
    // Sends the event of a closing window, because a busy browser may end a window before its scripts run.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide'))");
    await until(async () => (await typed()) === 'Typed before the window closed');
    await close();
  });

  it('saves text that was typed before its script loaded', async () => {
    const { launch, page, status, close } = await openReview();
    const { promise: typed, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\.js$/, (route) => typed.then(() => route.continue()));
    await page.reload({ waitUntil: 'commit' });
    await page.locator('#details').fill('Typed at once');
    release();
    await status.getByText(/^Saved$/).waitFor();
    expect(await launch.page('review')).toContain('>Typed at once</textarea>');
    await close();
  });

  it('shows a message when a save fails, and tries again', async () => {
    const { launch, browser, page, status, close } = await openReview();
    await browser.setOffline(true);
    await page.locator('#details').fill('Tired');
    await status.getByText('Not saved. Trying again.').waitFor();
    await browser.setOffline(false);
    await status.getByText(/^Saved$/).waitFor();
    expect(await launch.page('review')).toMatch(/<textarea[^>]*>Tired</);
    await close();
  });

  it('shows a message if another window changed the draft, and does not replace that change', async () => {
    const { launch, page, status, close } = await openReview();
    await launch.post('review', [
      ['details', 'By another window'],
      ['action', 'back'],
    ]);
    await page.locator('#details').fill('Too late');
    await status.getByText('This request was changed in another window').waitFor();
    expect(await launch.page('review')).toContain('By another window');
    await close();
  });
});
