import { tabTo } from '@clinical-launch/testing/chromium';
import type { Locator, Page } from 'playwright-core';

/** The ways in which a user operates a page. Flows are written once and played in each way. */
export type Hands = {
  /** Presses a button or follows a link, and waits for the page that it leads to. */
  press(page: Page, element: Locator): Promise<void>;
  /** Ticks or unticks a box, or chooses a radio button. */
  tick(page: Page, element: Locator): Promise<void>;
  fill(page: Page, element: Locator, text: string): Promise<void>;
};

/** A user with a mouse. */
export const mouse: Hands = {
  press: (_page, element) => element.click(),
  tick: (_page, element) => element.click(),
  fill: (_page, element, text) => element.fill(text),
};

/** A user with only a keyboard. */
export const keyboard: Hands = {
  async press(page, element) {
    await tabTo(page, element);
    await page.keyboard.press('Enter');
  },
  async tick(page, element) {
    if ((await element.getAttribute('type')) === 'radio') return arrowTo(page, element);
    await tabTo(page, element);
    await page.keyboard.press('Space');
  },
  async fill(page, element, text) {
    await tabTo(page, element);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
  },
};

/**
 * Moves to a radio button: Tab leads to the chosen button of a group or to its first; the arrows choose
 * within it.
 */
async function arrowTo(page: Page, element: Locator): Promise<void> {
  const group = page.locator(`input[type="radio"][name="${await element.getAttribute('name')}"]`);
  const chosen = group.and(page.locator(':checked'));
  await tabTo(page, (await chosen.count()) > 0 ? chosen : group.first());
  if (!(await chosen.count())) await page.keyboard.press('Space');
  for (let presses = 0; presses < (await group.count()); presses += 1) {
    if (await element.isChecked()) return;
    await page.keyboard.press('ArrowDown');
  }
  throw new Error('The arrows do not lead there');
}
