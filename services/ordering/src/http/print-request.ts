import type { Handler } from '@clinical-launch/http/endpoint';
import { presentForms, presentPrinting } from '../present/print-sheets.ts';
import { countPrints } from '../work/count-print.ts';
import type { Dependencies } from './dependencies.ts';
import { isRead, type RequestVisit } from './page-guards.ts';

/** Prints the request form, one sheet for each laboratory: `GET /oltr/{launchId}/requests/{guid}/form`. */
export function printForm(dependencies: Dependencies): Handler<RequestVisit> {
  return async (visit) => {
    const { about, home } = visit;
    const back = { href: `${home}requests/${about.guid}`, text: 'Back to the request' };
    dependencies.show(visit, 'print-form.njk', { ...(await readForm(visit, dependencies)), about, back });
  };
}

/**
 * Reads the request forms. A page with forms counts as a print, because the browser's own print command is
 * always available. Stores the print before the response is sent. A page without forms does not count.
 */
export async function readForm(
  visit: Pick<RequestVisit, 'request' | 'context' | 'call' | 'about' | 'catalogue'>,
  dependencies: Dependencies,
) {
  const { about, catalogue, context } = visit;
  const { write, nudge } = dependencies;
  const paper = await presentForms(about, { catalogue, write });
  if (!isRead(visit) || paper.sheets.length === 0) return { ...paper, reprints: [] };
  const counted = await countPrints(dependencies, visit, { requests: [about], what: 'form' });
  nudge();
  const printings = counted.map((each) => presentPrinting(each, context.request.author.name, write));
  return {
    ...paper,
    printing: printings[0],
    reprints: printings.filter(({ before }) => before !== undefined),
  };
}
