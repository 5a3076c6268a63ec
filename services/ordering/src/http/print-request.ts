import { createEvent } from '@clinical-launch/contracts';
import type { Catalogue } from '../domain/catalogue.ts';
import { fullName } from '../domain/person-name.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { presentForms, presentLabels } from '../present/print-sheets.ts';
import type { WriteTime } from '../present/written-time.ts';
import type { PrintedPaper, Printing, Prints } from '../store/prints.ts';
import { isRead, type RequestHandler } from './reading.ts';
import type { Show } from './show.ts';
import type { Visit } from './visit.ts';

type PrintNeeds = {
  readonly catalogue: Catalogue;
  readonly prints: Prints;
  readonly write: WriteTime;
  readonly show: Show;
  readonly nudge: () => void;
};

/** One kind of paper: its word in the audit trail, its page, and what stands on it. */
type Paper = {
  readonly what: PrintedPaper;
  readonly template: string;
  readonly present: (
    request: TestRequest,
    needs: Pick<PrintNeeds, 'catalogue' | 'write'>,
  ) => Promise<{ readonly sheets: readonly object[] }>;
};

const form: Paper = { what: 'form', template: 'print-form.njk', present: presentForms };
const labels: Paper = { what: 'labels', template: 'print-labels.njk', present: presentLabels };

/** `GET /oltr/{launchId}/requests/{guid}/form`: the request form, a sheet for each laboratory. */
export const printForm = (needs: PrintNeeds) => printPaper(form, needs);

/** `GET /oltr/{launchId}/requests/{guid}/labels`: the labels of the samples. */
export const printLabels = (needs: PrintNeeds) => printPaper(labels, needs);

/**
 * Whoever opens the page has what is on it, with the browser's own print command too, so opening it is what counts as
 * printing, and is kept before anything is sent. A page with nothing to print counts nothing.
 */
function printPaper({ what, template, present }: Paper, needs: PrintNeeds): RequestHandler {
  return async (visit, request) => {
    const paper = await present(request, needs);
    const isPrinted = isRead(visit) && paper.sheets.length > 0;
    const printing = isPrinted ? await count(what, { visit, request, needs }) : undefined;
    needs.show(visit, template, { ...paper, about: request, guid: request.guid, printing });
  };
}

type Counted = { readonly visit: Visit; readonly request: TestRequest; readonly needs: PrintNeeds };

async function count(what: PrintedPaper, { visit, request, needs }: Counted) {
  const { launchId, context, origin } = visit;
  const printing = await needs.prints.add({
    context,
    guid: request.guid,
    what,
    eventsOf: ({ before }) => [
      createEvent('order.printed.v1', origin, {
        orderGuid: request.guid,
        launchId,
        what,
        isReprint: before !== undefined,
      }),
    ],
  });
  needs.nudge();
  return presentPrinting(printing, { by: fullName(context.request.author.name), write: needs.write });
}

function presentPrinting({ at, before }: Printing, { by, write }: { by: string; write: WriteTime }) {
  return {
    at: write(at),
    by,
    ...(before && {
      before: { times: before.times, at: write(before.at), by: fullName(before.author.name) },
    }),
  };
}
