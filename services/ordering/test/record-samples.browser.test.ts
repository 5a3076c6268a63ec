import { tabTo } from '@clinical-launch/testing/chromium';
import { expect, it } from '@jest/globals';
import { useDesk } from './desk.ts';
import { openForOrder } from './launches.ts';
import { samplesPage, stored } from './sample-forms.ts';

const desk = useDesk();

it('the page for recording samples stores four samples without scripts, by Enter, Tab and Enter', async () => {
  const launch = await openForOrder(desk.application, 'PatientSampleQueue', ['BUE', 'HFBC', 'KMSU', 'VHIV']);
  const { page, close } = await desk.open(launch, { path: samplesPage(launch), javaScriptEnabled: false });
  try {
    const allNow = page.getByRole('button', { name: 'All samples have been collected now' });
    expect(await tabTo(page, allNow)).toBeLessThanOrEqual(30);
    await Promise.all([page.waitForURL(/#record$/), page.keyboard.press('Enter')]);
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(4);
    // The browser moves the focus to the fragment #record when it first renders the page.
    await page.locator('#record:focus').waitFor();
    await page.keyboard.press('Tab');
    await Promise.all([page.waitForURL(/\/orders\//), page.keyboard.press('Enter')]);
    expect(await page.getByText('Submitted to the laboratory').count()).toBe(1);
    expect((await stored(desk.application, launch)).status).toBe('Complete');
  } finally {
    await close();
  }
});

it('the page for recording samples stores only the ticked samples if the user presses Enter in a field', async () => {
  const launch = await openForOrder(desk.application, 'PatientSampleQueue', ['BUE', 'HFBC']);
  const { page, close } = await desk.open(launch, { path: samplesPage(launch) });
  try {
    await page.getByRole('checkbox', { name: /EDTA/ }).check();
    await page.getByLabel('Time', { exact: true }).first().fill('8:30');
    await Promise.all([page.waitForURL(/\/orders\//), page.keyboard.press('Enter')]);
    const { status, batches } = await stored(desk.application, launch);
    expect(status).toBe('Incomplete');
    expect(batches.flatMap(({ samples }) => samples.map(({ completedAt }) => completedAt))).toEqual([
      undefined,
      '2026-03-02T08:30:00.000Z',
    ]);
  } finally {
    await close();
  }
});
