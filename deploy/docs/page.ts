import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fromDocs } from './markdown.ts';
import type { CitedTests } from './rows.ts';
import type { Section, TableDocument, TableRow } from './tables.ts';

const beside = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8').trim();
const style = `\n${beside('page.css')}\n`;
const script = `\n${beside('filter.js')}\n`;
const sourceOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
/**
 * Nothing but the style and the script of the page itself (Content Security Policy Level 3 section 2.3.1).
 */
const policy = `default-src 'none'; script-src ${sourceOf(script)}; style-src ${sourceOf(style)}; base-uri 'none'; form-action 'none'`;

/**
 * Returns a document as `docs/<file>.html`: one table that can be filtered, in one file without other parts.
 */
export function pageOf(document: TableDocument): string {
  const { title, file, about, heads, sections } = document;
  const names = [heads.name, heads.text, ...(heads.code === undefined ? [] : [heads.code]), 'held by'];
  return `<!doctype html>
<!-- Written by npm run docs from the ${file}.yaml files beside the tests. Change those instead. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${title} - Clinical Launch</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${title}</h1>
${about.map((paragraph) => `<p>${inline(paragraph)}</p>`).join('\n')}
</header>
<main>
${filterForm(sections)}
<table role="table">
<thead role="rowgroup"><tr role="row">${names.map((name) => `<th role="columnheader" scope="col">${capitalised(name)}</th>`).join('')}</tr></thead>
${sections.map((section) => sectionOf(section, heads.code !== undefined)).join('\n')}
</table>
</main>
<script type="module">${script}</script>
</body>
</html>
`;
}

function filterForm(sections: readonly Section[]): string {
  const packages = new Set(sections.flatMap(({ rows }) => rows.map((row) => row.package)));
  const owners = [...packages].toSorted().map((name) => option(name, name));
  return `<form role="search" hidden>
<label>Words <input type="search" name="words" autocomplete="off"></label>
<label>Section <select name="section"><option value="">All sections</option>${placesOf(sections)}</select></label>
<label>Package <select name="owner"><option value="">All packages</option>${owners.join('')}</select></label>
<button type="reset">Clear</button>
<p role="status"></p>
</form>`;
}

const option = (value: string, name: string) => `<option value="${escaped(value)}">${escaped(name)}</option>`;

/** One option for each section with rows, and one for each specification as a whole. */
const placesOf = (sections: readonly Section[]) =>
  sections
    .filter(({ level, rows }) => level === 1 || rows.length > 0)
    .map(({ level, heading, place }) => option(place, level === 1 ? heading : place.replace(' / ', ': ')))
    .join('');

function sectionOf({ heading, level, place, about, rows }: Section, hasCode: boolean): string {
  const [specification, section] = place.split(' / ');
  const ofSpecification = section ? ` <span class="package">${specification}</span>` : '';
  const introduction = about === undefined ? '' : `<p class="about">${inline(about)}</p>`;
  return `<tbody role="rowgroup" data-place="${escaped(place)}">
<tr role="row"><th role="rowheader" scope="rowgroup" class="place level-${level}" id="${idOf(place)}" colspan="${hasCode ? 4 : 3}">${escaped(heading)}${ofSpecification}${introduction}</th></tr>
${rows.map((row) => rowOf(row, hasCode)).join('\n')}
</tbody>`;
}

/** As GitHub names a heading, for the links within the document. */
const idOf = (place: string) =>
  place
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .trim()
    .replaceAll(' ', '-');

function rowOf(row: TableRow, hasCode: boolean): string {
  const why = row.record === undefined ? '' : ` (<a href="${fromDocs(`/${row.record}`)}">why</a>)`;
  const cells = [
    `<th role="rowheader" scope="row" class="name">${inline(row.name)} <span class="package">${row.package}</span></th>`,
    `<td role="cell">${inline(row.text)}${why}</td>`,
    ...(hasCode ? [`<td role="cell">${row.code.map(linkTo).join('<br>')}</td>`] : []),
    `<td role="cell">${row.tests.length === 0 ? `None: ${inline(row.noTest ?? '')}` : evidenceOf(row.tests)}</td>`,
  ];
  return `<tr role="row" data-package="${row.package}">${cells.join('')}</tr>`;
}

/** The tests are folded away: one reader in ten wants to see them. */
function evidenceOf(tests: readonly CitedTests[]): string {
  const count = tests.flatMap(({ titles }) => titles).length;
  const files = tests.map(({ file, titles }) => {
    const quotations = titles.map((one) => `<li>${quoted(one)}</li>`);
    return `<li>${linkTo(file)}<ul>${quotations.join('')}</ul></li>`;
  });
  const summary = `${count} ${count === 1 ? 'test' : 'tests'}`;
  return `<details><summary>${summary}</summary><ul>${files.join('')}</ul></details>`;
}

function quoted(one: CitedTests['titles'][number]): string {
  if (typeof one === 'string') return `“${escaped(one)}”`;
  return escaped([`“${one.title}”`, ...one.rows.map((row) => `‘${row}’`)].join(' '));
}

const linkTo = (path: string) => `<a href="../${path}">${basename(path)}</a>`;

/**
 * Writes the Markdown of a text as HTML: code in backquotes, and links, which lead to the page of a document
 * here.
 */
function inline(text: string): string {
  const parts = text.split(/(`[^`]+`|\[[^\]]+\]\([^)\s]+\))/);
  return parts.map(partOf).join('');
}

function partOf(part: string): string {
  if (/^`.+`$/.test(part)) return `<code>${escaped(part.slice(1, -1))}</code>`;
  const [, name, target] = /^\[([^\]]+)\]\(([^)\s]+)\)$/.exec(part) ?? [];
  if (name === undefined || target === undefined) return escaped(part);
  return `<a href="${escaped(targetOf(target))}">${escaped(name)}</a>`;
}

/** The other generated document is a page as well. A heading of this one is a section of its filter. */
function targetOf(target: string): string {
  const generated = /^\/docs\/(decisions|conformance)\.md$/.exec(target);
  return generated === null ? fromDocs(target) : `${generated[1]}.html`;
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
