/**
 * Builds the documents of the developer portal: HTML fragments of the guides and of the reference, the text
 * of the examples, the pictures of the diagrams, and the index of all of them. The portal only reads these
 * files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { auditTrailDocument } from '@clinical-launch/audit-trail/openapi/document';
import { refusals } from '@clinical-launch/contracts/refusals/codes';
import { defaultScope } from '@clinical-launch/identity-provider/grants/client-credentials';
import { describedGrants } from '@clinical-launch/identity-provider/grants/grant';
import { identityProviderDocument } from '@clinical-launch/identity-provider/openapi/document';
import { readLaunchApiConfig } from '@clinical-launch/launch-api/config';
import { launchApiDocument } from '@clinical-launch/launch-api/openapi/document';
import { resourceApiDocument } from '@clinical-launch/resource-api/openapi/document';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { apiPage, bundled } from './api-page.ts';
import { asyncApiPart } from './events-page.ts';
import { contents, type Page, type Part, renderMarkdown } from './markdown.ts';

const root = new URL('../../', import.meta.url);

/** The folder of the documents. It contains no other file. */
export const pagesFolder = new URL('sandbox/portal/pages/', root);

const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const filesIn = (path: string) => readdirSync(new URL(path, root)).toSorted();

const linked = [...read('docs/README.md').matchAll(/\(guides\/([\w-]+)\.md/g)].map(([, slug = '']) => slug);
/** The guides, in the order in which docs/README.md first links to them. */
const guides = [...new Set([...linked, ...filesIn('docs/guides').map((name) => name.replace(/\.md$/, ''))])];
const examples = filesIn('docs/examples');

/** The OpenAPI documents of production, by the name of their page. */
export async function openApiDocuments() {
  const publicUrl = 'https://clinical-launch.example';
  const config = readLaunchApiConfig({ NODE_ENV: 'test', PUBLIC_URL: publicUrl });
  return {
    'launch-api': await bundled(launchApiDocument({ ...config, isProduction: true })),
    'identity-provider': await bundled(
      identityProviderDocument({
        grants: Object.values(describedGrants),
        scope: defaultScope('api://clinical-launch'),
      }),
    ),
    'resource-api': await bundled(resourceApiDocument()),
    'audit-api': await bundled(auditTrailDocument({ isProduction: true })),
  };
}

/**
 * Returns a function that converts the target of a link to its address for the portal, or to undefined for a
 * file that the portal does not publish.
 * @param from the path of the document that contains the link
 */
const addressFrom = (from: string) => (target: string) => {
  if (/^https?:/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const file = posix.join(posix.dirname(from), path);
  const [, group = '', name = ''] = /^docs\/(guides|reference|examples)\/(.+)$/.exec(file) ?? [];
  const slug = group === 'examples' ? name : name.replace(/\.md$/, '');
  const isPublished =
    { guides, reference: Object.keys(references), examples }[group]?.includes(slug) === true;
  return isPublished ? `/developers/${group}/${slug}${anchor === undefined ? '' : `#${anchor}`}` : undefined;
};

const renderFile = (path: string, text = read(path)) =>
  renderMarkdown(fetchingExamples(text), {
    addressOf: addressFrom(path),
    picture: `/developers/diagrams/${posix.basename(path, '.md')}.svg`,
  });

/** Adds the commands that get the examples from the platform, because its readers have no clone. */
const fetchingExamples = (text: string): string =>
  text.replaceAll(/(?<=export BASE_URL=.*\n)(?:(?!```)[^])*?docs\/examples[^]*?(?=```)/g, (commands) => {
    const names = new Set(commands.match(/docs\/examples\/[\w.-]+/g));
    const fetched = [...names].map(
      (name) => `curl -sf --create-dirs -o ${name} "$BASE_URL/developers/examples/${posix.basename(name)}"\n`,
    );
    return fetched.join('') + commands;
  });

/** Returns the picture of the only diagram of a guide, or nothing. */
function diagramOf(slug: string): readonly { readonly slug: string; readonly svg: string }[] {
  const [, diagram] = /```mermaid\n([^]*?)```/.exec(read(`docs/guides/${slug}.md`)) ?? [];
  if (diagram === undefined) return [];
  const svg = renderMermaidSVG(diagram, {
    bg: '#ffffff',
    fg: '#212b32',
    muted: '#212b32',
    line: '#4c6272',
    font: 'Arial',
  });
  // The library imports its font from a website, which no page of the platform may load.
  return [{ slug: `${slug}.svg`, svg: svg.replace(/ *@import [^\n]*\n/, '') }];
}

/** Renders a document with a table of contents below its title, and a generated part at its end. */
function documentPage(path: string, end: Part = { headings: [], html: '' }): Page {
  const { title, headings, html } = renderFile(path);
  const listed = contents([...headings.filter(({ depth }) => depth === 2), ...end.headings]);
  return { title, html: html.replace('</h1>\n', (close) => close + listed) + end.html };
}

/** The function that builds each page of a group, in the order of the index. */
type Group = Readonly<Record<string, (apis: Awaited<ReturnType<typeof openApiDocuments>>) => Page>>;

const references: Group = {
  'launch-api': (apis) => apiPage(apis['launch-api']),
  'identity-provider': (apis) => apiPage(apis['identity-provider']),
  'resource-api': (apis) => {
    // Removes the title of the handwritten document, because the page has the title of the API.
    const path = 'docs/reference/resource-api.md';
    return apiPage(apis['resource-api'], renderFile(path, read(path).replace(/^# .*\n/, '')));
  },
  'audit-api': (apis) => apiPage(apis['audit-api']),
  events: () => documentPage('docs/reference/events.md', asyncApiPart()),
  errors: () => {
    const errors = documentPage('docs/reference/errors.md');
    return { ...errors, html: withAnchors(errors.html) };
  },
  'operator-files': () => documentPage('docs/reference/operator-files.md'),
};

const withAnchors = (html: string): string =>
  html.replaceAll(/<tr (?=[^>]*><td[^>]*><code>([a-z_]+)<\/code>)/g, (row, code: string) =>
    Object.hasOwn(refusals, code) ? `<tr id="${code}" ` : row,
  );

/** Returns every document of the portal, with its text. */
export async function developerPages(): Promise<{ readonly file: URL; readonly text: string }[]> {
  const apis = await openApiDocuments();
  const groups: Readonly<Record<string, Group>> = {
    guides: Object.fromEntries(guides.map((slug) => [slug, () => documentPage(`docs/guides/${slug}.md`)])),
    reference: references,
  };
  const rendered = Object.entries(groups).flatMap(([group, pages]) =>
    Object.entries(pages).map(([slug, pageOf], order) => ({ group, slug, order, ...pageOf(apis) })),
  );
  const copied = examples.map((slug, order) => ({ group: 'examples', slug, order, title: slug }));
  const diagrams = guides.flatMap(diagramOf).map(({ slug, svg }, order) => ({
    group: 'diagrams',
    slug,
    order,
    title: slug,
    svg,
  }));
  const index = [...rendered, ...copied, ...diagrams].map(({ title, slug, group, order }) => ({
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
    ...diagrams.map(({ slug, svg }) => ({ file: new URL(`diagrams/${slug}`, pagesFolder), text: svg })),
    { file: new URL('index.json', pagesFolder), text: `${JSON.stringify(index, undefined, 1)}\n` },
  ];
}
