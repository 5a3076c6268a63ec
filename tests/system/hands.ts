import { tabTo } from '@clinical-launch/testing/chromium';
import type { Locator, Page } from 'playwright-core';

/** The ways to operate a page, so that one flow can be played with a mouse or a keyboard. */
export type Hands = {
  /** Presses a button or follows a link. */
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
 * Selects a radio button: Tab moves to the selected button of a group, or to the first button. The arrow keys
 * select within the group.
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
  throw new Error('The arrow keys do not reach the button');
}
