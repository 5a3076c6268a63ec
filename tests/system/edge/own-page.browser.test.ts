import { startChromium } from '@clinical-launch/testing/chromium';
import { expect, it } from '@jest/globals';
import { expectGoodPage } from '../pictures.ts';
import { startEdgeOfFailingService } from './failing-service.ts';

it('the edge shows an accessible page in a browser when the service fails', async () => {
  const [edge, browser] = await Promise.all([startEdgeOfFailingService(), startChromium()]);
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${edge.url}/oltr/closes`);
    await page.getByRole('heading', { level: 1, name: 'This page is not available now' }).waitFor();
    expect(await page.title()).toBe('This page is not available – Clinical Launch');
    // The header has its colour only if the Content-Security-Policy allows the page's style.
    const colour = await page.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor");
    expect(colour).toBe('rgb(0, 94, 184)');
    await expectGoodPage(page, 'edge');
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  } finally {
    await browser.close();
    await edge.stop();
  }
});
