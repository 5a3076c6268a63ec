import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPortal } from './running-portal.ts';

let portal: Awaited<ReturnType<typeof startPortal>>;
beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.stop());

type Entry = { readonly group: string; readonly slug: string; readonly title: string };
const folder = new URL('../pages/', import.meta.url);
const index: readonly Entry[] = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8'));
const open = (path: string) => fetch(`${portal.url}${path}`, { headers: { Accept: 'text/html' } });

const shownPages = index.filter(({ group }) => ['guides', 'reference'].includes(group));

describe('the documents of the developer portal', () => {
  it('are pages that need no sign-in and have the title of the document', async () => {
    for (const { group, slug, title } of shownPages) {
      const answer = await open(`/developers/${group}/${slug}`);
      const page = await answer.text();
      expect([slug, answer.status, answer.headers.get('content-type')]).toEqual([
        slug,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(page).toContain(`<title>${title} – Clinical Launch developers</title>`);
      const written = readFileSync(new URL(`${group}/${slug}.html`, folder), 'utf8');
      expect(page.replaceAll(`BASE_URL=${portal.url}`, 'BASE_URL=http://localhost:8080')).toContain(written);
    }
  });

  it('link to every guide and every page of the reference', async () => {
    const page = await (await open('/developers/guides/pms')).text();
    expect(
      shownPages.filter(({ group, slug }) => !page.includes(`href="/developers/${group}/${slug}"`)),
    ).toEqual([]);
    expect(page).toContain('href="/developers/guides/pms" aria-current="page"');
  });

  it('show diagrams as pictures with their messages as text, and without anything of another site', async () => {
    const page = await (await open('/developers/guides/pms')).text();
    const [, address = '', words] = /<img src="([^"]+)" alt="([^"]+)"/.exec(page) ?? [];
    expect(words).toContain('Your backend to Clinical Launch: 1. token request.');
    const picture = await open(address);
    expect(picture.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
    expect((await picture.text()).match(/@import|href|url\((?!#)/g)).toBeNull();
  });

  it('state the address of this platform in their examples, which they get from it', async () => {
    const page = await (await open('/developers/guides/pms')).text();
    const [, example = ''] = /curl -sf --create-dirs -o \S+ "\$BASE_URL(\S+)"/.exec(page) ?? [];
    expect([page.includes(`export BASE_URL=${portal.url}\n`), (await open(example)).status]).toEqual([
      true,
      200,
    ]);
  });

  it('include the examples as plain text', async () => {
    const examples = new URL('../../../docs/examples/', import.meta.url);
    for (const name of readdirSync(examples)) {
      const answer = await open(`/developers/examples/${name}`);
      expect([answer.headers.get('content-type'), answer.headers.get('x-content-type-options')]).toEqual([
        'text/plain; charset=utf-8',
        'nosniff',
      ]);
      expect(await answer.text()).toBe(readFileSync(new URL(name, examples), 'utf8'));
    }
  });

  it.each([
    '/developers/guides/none',
    '/developers/guides/errors',
    '/developers/reference/..%2Findex.json',
    '/developers/guides/..%2F..%2Fpackage',
    '/developers/examples/..%2F..%2Fpackage.json',
    '/developers/examples/pms',
  ])('answer 404 to %s', async (path) => {
    expect((await open(path)).status).toBe(404);
  });
});
