/**
 * Builds the documents of the developer portal: HTML fragments of the guides and of the reference, the text
 * of the examples, and the index of all of them. The portal only reads these files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { refusals } from '@clinical-launch/contracts/refusals/codes';
import { contents, type Page, renderMarkdown } from './markdown.ts';

const root = new URL('../', import.meta.url);

/** The folder of the documents. It contains no other file. */
export const pagesFolder = new URL('services/developer-portal/pages/', root);

const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const filesIn = (path: string) => readdirSync(new URL(path, root)).toSorted();

const linked = [...read('docs/README.md').matchAll(/\(guides\/([\w-]+)\.md/g)].map(([, slug = '']) => slug);
/** The guides, in the order in which docs/README.md first links to them. */
const guides = [...new Set([...linked, ...filesIn('docs/guides').map((name) => name.replace(/\.md$/, ''))])];
const examples = filesIn('docs/examples');
const references = ['resource-api', 'audit-api', 'events', 'errors'];

/**
 * Returns the address of a file of the repository that the portal publishes, and undefined for any other
 * file.
 * @param from the path of the document that contains the link
 */
const addressFrom = (from: string) => (target: string) => {
  if (/^https?:/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const file = posix.join(posix.dirname(from), path);
  const [, group = '', name = ''] = /^docs\/(guides|reference|examples)\/(.+)$/.exec(file) ?? [];
  const slug = group === 'examples' ? name : name.replace(/\.md$/, '');
  const isPublished = { guides, reference: references, examples }[group]?.includes(slug) === true;
  return isPublished ? `/developers/${group}/${slug}${anchor === undefined ? '' : `#${anchor}`}` : undefined;
};

/** Renders a document with a table of contents below its title. */
function documentPage(path: string): Page {
  const { title, headings, html } = renderMarkdown(read(path), { addressOf: addressFrom(path) });
  const listed = contents(headings.filter(({ depth }) => depth === 2));
  return { title, html: html.replace('</h1>\n', (close) => close + listed) };
}

/** Returns the pages of the reference by name. */
function referencePages(): Readonly<Record<string, Page>> {
  const pages = references.map((slug) => [slug, documentPage(`docs/reference/${slug}.md`)] as const);
  const { errors, ...others } = Object.fromEntries(pages);
  return errors === undefined ? others : { ...others, errors: { ...errors, html: withAnchors(errors.html) } };
}

/** Adds an anchor to the row of each refusal code. */
const withAnchors = (html: string): string =>
  html.replaceAll(/<tr>(?=<td><code>([a-z_]+)<\/code>)/g, (row, code: string) =>
    Object.hasOwn(refusals, code) ? `<tr id="${code}">` : row,
  );

/** Returns every document of the portal, with its text. */
export function developerPages(): { readonly file: URL; readonly text: string }[] {
  const pages = {
    guides: Object.fromEntries(guides.map((slug) => [slug, documentPage(`docs/guides/${slug}.md`)])),
    reference: referencePages(),
  };
  const rendered = Object.entries(pages).flatMap(([group, ofGroup]) =>
    Object.entries(ofGroup).map(([slug, page], order) => ({ group, slug, order, ...page })),
  );
  const copied = examples.map((slug, order) => ({ group: 'examples', slug, order, title: slug }));
  const index = [...rendered, ...copied].map(({ title, slug, group, order }) => ({
    title,
    slug,
    group,
    order,
  }));
  return [
    ...rendered.map(({ group, slug, html }) => ({
      file: new URL(`${group}/${slug}.html`, pagesFolder),
      text: html,
    })),
    ...examples.map((name) => ({
      file: new URL(`examples/${name}.txt`, pagesFolder),
      text: read(`docs/examples/${name}`),
    })),
    { file: new URL('index.json', pagesFolder), text: `${JSON.stringify(index, undefined, 1)}\n` },
  ];
}
