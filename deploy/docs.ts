/**
 * `npm run docs`: writes the decisions and the conformance rows, as Markdown and as pages that can be
 * filtered, from the small files beside the tests, and the index of the records of decisions. A test fails
 * when a written file differs from what they say.
 */
import { writeFileSync } from 'node:fs';
import { markdownOf } from './docs/markdown.ts';
import { pageOf } from './docs/page.ts';
import { recordIndex } from './docs/records.ts';
import { readConformance, readDecisions, readOutline, root } from './docs/rows.ts';
import { conformanceTable, decisionTable } from './docs/tables.ts';

/**
 * Returns the text of every generated document, by its path from the root.
 * @throws Error that lists every row that has no place or no evidence.
 */
export function generatedDocuments(): Readonly<Record<string, string>> {
  const outline = readOutline();
  const tables = [decisionTable(outline, readDecisions()), conformanceTable(outline, readConformance())];
  const documents = tables.flatMap((table) => [
    [`docs/${table.file}.md`, markdownOf(table)],
    [`docs/${table.file}.html`, pageOf(table)],
  ]);
  return { ...Object.fromEntries(documents), 'docs/decisions/README.md': recordIndex() };
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generatedDocuments())) writeFileSync(`${root}${path}`, text);
}
