/**
 * Renders Markdown as HTML fragments for the developer pages, in the styles of NHS.UK frontend. Escapes all
 * text. Raw HTML in Markdown becomes text, except comments, which are removed.
 */
import { escapeMarkup } from '@clinical-launch/contracts/formats';
import { Marked, type Tokens } from 'marked';

type Heading = { readonly depth: number; readonly id: string; readonly html: string };

/** A part of a page, with its headings for the table of contents. */
export type Part = { readonly headings: readonly Heading[]; readonly html: string };

export type Page = { readonly title: string; readonly html: string };

/** Escapes text between tags. Quotes need no escape there. */
const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const headingSizes = ['l', 'm', 's', 'xs'];

/** Returns a heading. Its anchor is `id`. */
export const heading = ({ depth, id, html }: Heading): string =>
  `<h${depth} id="${escapeMarkup(id)}" class="nhsuk-heading-${headingSizes[depth - 1] ?? 'xs'}">${html}</h${depth}>\n`;

/** Returns the text of HTML without its tags. */
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, '');

/** Returns a table of cells in HTML. On a narrow page, each row is a card. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => {
    const named = cells.map(
      (cell, at) => `<td role="cell" data-name="${escapeMarkup(textOf(head[at] ?? ''))}">${cell}</td>`,
    );
    return `<tr role="row">${named.join('')}</tr>\n`;
  });
  const names = head.map((name) =>
    name === '' ? '<td role="cell"></td>' : `<th role="columnheader" scope="col">${name}</th>`,
  );
  return `<div class="nhsuk-table-container" tabindex="0"><table role="table" class="nhsuk-table">\n<thead role="rowgroup"><tr role="row">${names.join('')}</tr></thead>\n<tbody role="rowgroup">\n${lines.join('')}</tbody></table></div>\n`;
}

/** Returns a block of code that scrolls. `id` is its anchor. */
export const codeBlock = (text: string, id?: string): string =>
  `<pre tabindex="0"${id === undefined ? '' : ` id="${id}"`}><code>${escapeText(text)}</code></pre>\n`;

/** Returns text as inline code. */
export const code = (text: string): string => `<code>${escapeText(text)}</code>`;

/** Returns a link to an anchor of the same page. */
export const anchorLink = (id: string, html: string): string => `<a href="#${escapeMarkup(id)}">${html}</a>`;

/** Returns the links to the headings of a page. */
export const contents = (headings: readonly Heading[]): string =>
  `<nav aria-label="Contents"><ul>\n${headings.map(({ id, html }) => `<li>${anchorLink(id, html)}</li>\n`).join('')}</ul></nav>\n`;

type MarkdownOptions = {
  /**
   * Returns the address of a link to another file or site, or undefined for a file that is not published.
   * Links within the page do not change.
   */
  readonly addressOf?: (target: string) => string | undefined;
  /** The address of the picture of the document's only Mermaid diagram. */
  readonly picture?: string;
};

/** Renders a document. The title is the text of its first level-1 heading. */
export function renderMarkdown(
  markdown: string,
  { addressOf = () => undefined, picture }: MarkdownOptions = {},
): Page & Part {
  const headings: Heading[] = [];
  let title = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const found = { depth, id: freeAnchor(text, headings), html: this.parser.parseInline(tokens) };
        headings.push(found);
        if (depth === 1) title ||= text.replaceAll('`', '');
        return heading(found);
      },
      table({ header, rows }: Tokens.Table) {
        const cellOf = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
        return table(
          header.map(cellOf),
          rows.map((row) => row.map(cellOf)),
        );
      },
      code: ({ text, lang }: Tokens.Code) =>
        lang === 'mermaid' && picture !== undefined
          ? `<p><img src="${escapeMarkup(picture)}" alt="${escapeMarkup(diagramWords(text))}"/></p>\n`
          : codeBlock(text),
      codespan: ({ text }: Tokens.Codespan) => code(text),
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeText(text.replaceAll(/<!--[^]*?-->/g, '').trim()),
      link({ href, tokens }: Tokens.Link) {
        const html = this.parser.parseInline(tokens);
        const address = href.startsWith('#') ? href : addressOf(href);
        return address === undefined ? html : `<a href="${escapeMarkup(address)}">${html}</a>`;
      },
      // The pictures of the repository are not published.
      image: () => '',
      paragraph({ tokens }: Tokens.Paragraph) {
        const html = this.parser.parseInline(tokens);
        return html === '' ? '' : `<p>${html}</p>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false }).trimStart();
  return { title, headings, html };
}

/** Returns the messages of a Mermaid sequence diagram as text: `Your backend to Clinical Launch: 1. token.` */
function diagramWords(diagram: string): string {
  const names = new Map(
    [...diagram.matchAll(/participant (\w+) as (.+)/g)].map(([, id = '', name = '']) => [id, name]),
  );
  const messages = diagram.matchAll(/^ *(\w+)-{1,2}>>(\w+): (.+)$/gm);
  const words = [...messages].map(
    ([, from = '', to = '', what = '']) => `${names.get(from) ?? from} to ${names.get(to) ?? to}: ${what}.`,
  );
  return words.join(' ');
}

/** Renders Markdown without headings, such as the description of an operation. */
export const describe = (markdown: string): string => renderMarkdown(markdown).html;

/** Renders Markdown of one paragraph for the cell of a table. */
export const line = (markdown: string): string =>
  describe(markdown)
    .replaceAll(/<\/?p>|\n$/g, '')
    .trim();

/** Returns the anchor that GitHub gives to a heading. */
function freeAnchor(heading: string, others: readonly Heading[]): string {
  const plain = heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').toLowerCase();
  const name = plain.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
  let id = name;
  for (let count = 1; others.some((other) => other.id === id); count += 1) id = `${name}-${count}`;
  return id;
}
