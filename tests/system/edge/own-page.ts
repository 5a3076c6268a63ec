import { createHash } from 'node:crypto';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { startChromium } from '@clinical-launch/testing/chromium';
import { expect } from '@jest/globals';
import { expectGoodPage } from '../pictures.ts';

type PageAnswer = {
  readonly headers: Pick<Headers, 'get'> | ReadonlyMap<string, string>;
  readonly body: string;
};

/** Returns the reference for support in an answer of the edge or the firewall. */
export const referenceOf = ({ headers }: Pick<PageAnswer, 'headers'>) =>
  headers.get('x-correlation-id') ?? '';

/**
 * Expects a page that the edge or the firewall itself sends, with this heading and the security headers of
 * all our pages.
 */
export function expectPage(answer: PageAnswer, heading: string): void {
  const { body, headers } = answer;
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(referenceOf(answer)).toMatch(/^[0-9a-f-]{32,36}$/);
  const [, title, reference, advice] =
    /<h1>([^<]+)<\/h1><p>Reference for support: <strong>([^<]+)<\/strong><\/p><p>([^<]+)<\/p>[^]*<\/main>/.exec(
      body,
    ) ?? [];
  expect([title, reference]).toEqual([heading, referenceOf(answer)]);
  expect(advice).toMatch(/^(Try again in a minute|Check the address|Go back, )/);
  expect(body).toMatch(/^<!DOCTYPE html>[^]*<\/html>$/);

  const { 'Content-Security-Policy': _policy, ...others } = pageHeaders({ frameAncestors: ["'self'"] });
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  for (const [name, value] of Object.entries(others)) expect(headers.get(name.toLowerCase())).toBe(value);
  const [, style = ''] = /<style>([^<]+)<\/style>/.exec(body) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`,
  );
}

/** Expects that a browser shows the page at this address in our style, and that the page is accessible. */
export async function expectPageInBrowser(url: string, heading: string): Promise<void> {
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(url);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    expect(await page.title()).toBe('This page is not available – Clinical Launch');
    // The header has its colour only if the Content-Security-Policy allows the page's style.
    const colour = await page.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor");
    expect(colour).toBe('rgb(0, 94, 184)');
    await expectGoodPage(page, 'edge');
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  } finally {
    await browser.close();
  }
}
