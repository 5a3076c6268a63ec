import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { runViews } from '@clinical-launch/conformance/runs';
import { preferredType, sendText, setHeaders } from '@clinical-launch/http/answer';
import { type ErrorDialect, problemDialect } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { createPages } from '@clinical-launch/pages/templates';
import type { DeveloperPortalConfig } from '../config.ts';

/** Answers with a page. */
type Show = (response: ServerResponse, template: string, model: object) => void;

/** Prepares the pages of the portal. */
export function createShow(): Show {
  const pages = createPages([fileURLToPath(new URL('../views', import.meta.url)), runViews]);
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });
  return (response, template, model) => {
    setHeaders(response, headers);
    sendText(response, 'text/html', pages.render(template, model));
  };
}

/** What a developer does next, by error code. */
const advice: Readonly<Record<string, string>> = {
  session_required: 'Open the start of the developer pages. It shows how to sign in with your client.',
  foreign_form: 'Nothing was changed. Use the form of the developer pages.',
  not_found: 'Check the address, or go to the start of the developer pages.',
};

/** Creates the dialect that answers browsers with a page, and other clients with problem details. */
export function createDialect(config: DeveloperPortalConfig, show: Show): ErrorDialect {
  const problem = problemDialect(config);
  return (error, exchange) => {
    const { request, response, call } = exchange;
    if (preferredType(request, ['application/json', 'text/html']) !== 'text/html')
      return problem(error, exchange);
    show(response, 'message.njk', {
      title: error.message,
      text:
        advice[error.code] ??
        'Correct the request and send it again. If it fails again, report the reference.',
      faults: error.faults,
      correlationId: call.correlationId,
    });
  };
}
