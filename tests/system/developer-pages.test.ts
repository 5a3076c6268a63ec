import { readFileSync } from 'node:fs';
import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { refusalCodes } from '@clinical-launch/contracts/refusals/codes';
import { nodeTextsOf } from '@clinical-launch/testing/xml';
import { describe, expect, it } from '@jest/globals';
import { operationsOf } from '../../tools/docs/api-page.ts';
import { asyncApiDocument } from '../../tools/docs/asyncapi.ts';
import { openApiDocuments, pagesFolder } from '../../tools/docs/developer-pages.ts';
import { errorAnswersOf } from '../../tools/docs/error-answers.ts';
import { refusalWords } from '../../tools/docs/errors.ts';
import { renderMarkdown } from '../../tools/docs/markdown.ts';
import { snippets } from '../../tools/docs/snippets.ts';

type Entry = { readonly group: string; readonly slug: string; readonly title: string };
const index: readonly Entry[] = JSON.parse(readFileSync(new URL('index.json', pagesFolder), 'utf8'));
const addresses = new Set(index.map(({ group, slug }) => `/developers/${group}/${slug}`));

/** Returns a page as an XML document. Parsing it fails if text is not escaped. */
const pageOf = (group: string, slug: string) =>
  `<page>${readFileSync(new URL(`${group}/${slug}.html`, pagesFolder), 'utf8')}</page>`;
const pages = index
  .filter(({ group }) => ['guides', 'reference'].includes(group))
  .map(({ group, slug }) => [`/developers/${group}/${slug}`, pageOf(group, slug)] as const);
const anchorsOf = async (page: string) => nodeTextsOf(page, '//@id');

describe.each(pages)('the page %s', (_address, page) => {
  it('contains only the elements and attributes of a document', async () => {
    const names = [...page.matchAll(/<([a-z0-9]+)/g)].map(([, name]) => name);
    const known =
      /^(page|h[1-4]|p|a|nav|ul|ol|li|div|table|thead|tbody|tr|th|td|pre|code|strong|em|br|hr|details|summary|img)$/;
    expect(names.filter((name) => !known.test(name ?? ''))).toEqual([]);
    const unknown =
      "//@*[not(contains('|id|class|href|tabindex|scope|aria-label|aria-hidden|role|data-name|src|alt|start|', concat('|', name(), '|')))]";
    expect(await nodeTextsOf(page, unknown)).toEqual([]);
  });

  it('begins with its only level-1 heading, and lists its sections', async () => {
    expect(await nodeTextsOf(page, '//h1')).toEqual(await nodeTextsOf(page, '/page/*[1][self::h1]'));
    const listed = await nodeTextsOf(page, '//nav//@href');
    expect(listed).toEqual((await nodeTextsOf(page, '//h2/@id')).map((id) => `#${id}`));
  });

  it('has unique anchors', async () => {
    const anchors = await anchorsOf(page);
    expect(anchors.length).toBe(new Set(anchors).size);
  });

  it('links only to documents and anchors that exist, and to other sites', async () => {
    const links = await nodeTextsOf(page, '//a/@href');
    const broken: string[] = [];
    for (const link of links.filter((one) => !/^https?:/.test(one))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : pages.find(([address]) => address === path)?.[1];
      const exists = path === '' || addresses.has(path);
      if (!exists || (anchor !== undefined && !(await anchorsOf(target ?? '<page/>')).includes(anchor)))
        broken.push(link);
    }
    expect(broken).toEqual([]);
  });
});

const documents = Object.entries(await openApiDocuments());
const operations = documents.flatMap(([slug, document]) =>
  operationsOf(document).map((operation) => [operation.operationId, slug, operation] as const),
);

describe('an operation of an OpenAPI document', () => {
  it.each(operations)(
    '%s is on the page %s, with its errors and a call in each language',
    async (id, slug, operation) => {
      const { method, path, responses } = operation;
      const page = pageOf('reference', slug);
      const [, section = ''] = page.split(`<h2 id="${id}"`);
      const own = `<page><h2${section.split('<h2 ')[0]}</page>`;
      expect(await nodeTextsOf(own, '/page/p[1]')).toEqual([`${method.toUpperCase()} ${path}`]);
      expect(await nodeTextsOf(own, '//summary')).toEqual(Object.keys(snippets));
      const shown = await nodeTextsOf(own, '//a[starts-with(@href, "/developers/reference/errors#")]');
      expect(shown).toEqual(errorAnswersOf(id, responses).map(({ code }) => code));
      const statuses = Object.keys(responses).map((status) => (status === 'default' ? '500' : status));
      const cells = await nodeTextsOf(own, '//tr/td[1]');
      expect(statuses.filter((status) => !cells.includes(status))).toEqual([]);
    },
  );
});

describe('the page of errors', () => {
  it.each(refusalCodes)('explains %s with its cause and its remedy', async (code) => {
    const cells = await nodeTextsOf(pageOf('reference', 'errors'), `//tr[@id='${code}']/td`);
    expect([cells[0], ...cells.slice(2)]).toEqual([
      code,
      ...refusalWords[code].map((sentence) => sentence.replaceAll('`', '')),
    ]);
  });
});

describe('the page of events', () => {
  it('contains every operation of the AsyncAPI document, and the data of every event', async () => {
    const page = pageOf('reference', 'events');
    const { operations: described } = asyncApiDocument();
    const cells = await nodeTextsOf(page, '//td[1]');
    expect(Object.keys(described as object).filter((name) => !cells.includes(name))).toEqual([]);
    expect(await nodeTextsOf(page, '//summary')).toEqual(Object.keys(eventCatalogue));
  });
});

describe('Markdown of a document', () => {
  it('contains no HTML of its own, and no link to a script', () => {
    const { html } = renderMarkdown(
      '# A <b onclick="x()">title</b>\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) <img src=x onerror=y>\n\n`<i>` & "q"\n',
    );
    expect(html.replaceAll(/<\/?(?:h1|p|code)[^<>]*>/g, '')).not.toMatch(/[<>]/);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).not.toContain('href');
  });
});
