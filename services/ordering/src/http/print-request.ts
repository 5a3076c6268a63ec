import type { Catalogue } from '../domain/catalogue.ts';
import type { PrintedPaper } from '../domain/printing.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { presentPrinting } from '../present/print-note.ts';
import { presentForms, presentLabels } from '../present/print-sheets.ts';
import type { WriteTime } from '../present/written-time.ts';
import { countPrint } from '../work/count-print.ts';
import type { Dependencies } from './dependencies.ts';
import type { RequestHandler, RequestVisit } from './page-doors.ts';
import { isRead } from './reading.ts';

/** A kind of paper: its name in the audit trail, its page and its content. */
type Paper = {
  readonly what: PrintedPaper;
  readonly template: string;
  readonly present: (
    request: TestRequest,
    presenting: { readonly catalogue: Catalogue; readonly write: WriteTime },
  ) => Promise<{ readonly sheets: readonly object[] }>;
};

/** Prints the request form, a sheet for each laboratory: `GET /oltr/{launchId}/requests/{guid}/form`. */
export const printForm = printPaper({ what: 'form', template: 'print-form.njk', present: presentForms });

/** Prints the labels of the samples: `GET /oltr/{launchId}/requests/{guid}/labels`. */
export const printLabels = printPaper({
  what: 'labels',
  template: 'print-labels.njk',
  present: presentLabels,
});

/**
 * Creates the page of a paper. Opening the page counts as printing and is stored before anything is sent,
 * because the reader can also use the browser's own print command. A page with nothing to print counts
 * nothing.
 */
function printPaper({ what, template, present }: Paper): RequestHandler {
  return async (visit, dependencies) => {
    const { about, catalogue } = visit;
    const { write, show } = dependencies;
    const paper = await present(about, { catalogue, write });
    const isPrinted = isRead(visit) && paper.sheets.length > 0;
    const printing = isPrinted ? await count(what, visit, dependencies) : undefined;
    show(visit, template, { ...paper, about, guid: about.guid, printing });
  };
}

async function count(what: PrintedPaper, visit: RequestVisit, dependencies: Dependencies) {
  const { about, context } = visit;
  const printing = await countPrint(dependencies, visit, { guid: about.guid, what });
  dependencies.nudge();
  return presentPrinting(printing, context.request.author.name, dependencies.write);
}
