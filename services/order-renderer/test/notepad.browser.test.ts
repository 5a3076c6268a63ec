import { startChromium } from '@clinical-launch/testing/chromium';
import { expect, it } from '@jest/globals';
import { startRendererPlatform } from './renderer-platform.ts';
import { anOrder } from './submitted-order.ts';

it('a browser reads the order document unchanged from the TEXTAREA Output of the Notepad page', async () => {
  const [platform, browser] = await Promise.all([startRendererPlatform(), startChromium()]);
  try {
    const { guid, cookie } = await platform.submitOrder();
    const { body: xml } = await platform.read(`/orders/${guid}.xml`, cookie);
    const page = await browser.newPage({ extraHTTPHeaders: { cookie } });
    await page.goto(`${platform.url}/orders/${guid}/notepad`);
    const read = await page.evaluate(`(() => {
      const xml = document.querySelector('textarea[name=Output]').value;
      const parsed = new DOMParser().parseFromString(xml, 'application/xml');
      return { xml, familyName: parsed.querySelector('patient > familyName')?.textContent };
    })()`);
    expect(read).toEqual({ xml, familyName: anOrder(guid).patient.name.family });
  } finally {
    await browser.close();
    await platform.stop();
  }
});
