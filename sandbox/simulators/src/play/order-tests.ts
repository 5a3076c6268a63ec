import { type Browser, type Page, plainText } from './browser.ts';

/**
 * Orders two tests of two laboratories as a user would, from the first page of a launch to the order
 * document.
 * @throws Error at an unexpected page
 */
export async function orderTests(browser: Browser, first: Page) {
  const choose = expectPage(first, 'Choose tests');
  const tests = oneTestOfEachLocation(choose).slice(0, 2);
  const chosen = new URLSearchParams(tests.map(({ code }): [string, string] => ['test', code]));
  chosen.set('action', 'review');
  const review = expectPage(await browser.open(choose.url, chosen), 'Review the request');
  const result = expectPage(await browser.open(review.url, submissionOf(review)), 'Request submitted');
  const notepad = await browser.open(new URL(notepadOf(result), result.url).href);
  const [, output] = /<textarea[^>]*name="Output"[^>]*>([^]*?)<\/textarea>/.exec(notepad.html) ?? [];
  if (output === undefined) throw new Error(`No Output in the Notepad page (${notepad.status})`);
  return { tests, document: plainText(output) };
}

function oneTestOfEachLocation({ html }: Page): { code: string; location: string }[] {
  const byLocation = new Map<string, string>();
  for (const [, code = '', location = ''] of html.matchAll(
    / value="(\w+)" aria-describedby=[^]*?· ([^<]+)/g,
  )) {
    if (!byLocation.has(location.trim())) byLocation.set(location.trim(), code);
  }
  return [...byLocation].map(([location, code]) => ({ code, location }));
}

/** Returns the form that submits the order of a review page, with its hidden fields. */
export const submissionOf = (review: Page): URLSearchParams =>
  new URLSearchParams({
    action: 'submit',
    version: valueOf(review, 'version'),
    window: valueOf(review, 'window'),
  });

function valueOf({ html }: Page, name: string): string {
  const [, value] = new RegExp(`name="${name}" value="([^"]*)"`).exec(html) ?? [];
  if (value === undefined) throw new Error(`The page has no field ${name}`);
  return plainText(value);
}

function notepadOf({ html }: Page): string {
  const [, source] = /<iframe name="Notepad"[^>]*? src="([^"]+)"/.exec(html) ?? [];
  if (source === undefined) throw new Error('The result page has no IFRAME Notepad');
  return source;
}

/** Returns the page. @throws Error unless the status is 200 and the page contains the heading */
export function expectPage(page: Page, heading: string): Page {
  if (page.status !== 200 || !page.html.includes(heading))
    throw new Error(`Not the page "${heading}": ${page.status}`);
  return page;
}
