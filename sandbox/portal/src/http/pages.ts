import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { sendText, setHeaders, wantsPage } from '@clinical-launch/http/answer';
import { type ErrorDialect, problemDialect } from '@clinical-launch/http/errors';
import { type PagePolicy, pageHeaders } from '@clinical-launch/pages/page-headers';
import { createPages } from '@clinical-launch/pages/templates';
import type { DeveloperPortalConfig } from '../config.ts';

/** Answers with a page. Adds `policy` to the policy that all pages have. */
export type Show = (response: ServerResponse, template: string, model: object, policy?: PagePolicy) => void;

/** Creates the function that answers with a page of the portal. */
export function createShow(): Show {
  const pages = createPages(fileURLToPath(new URL('../views', import.meta.url)));
  return (response, template, model, policy = {}) => {
    setHeaders(response, {
      ...pageHeaders({ scriptHashes: [pages.scriptHash], ...policy }),
      // With no-referrer, browsers send `Origin: null` even for the forms of these pages (Fetch, "append a
      // request Origin header"). On plain http and in older browsers, only `Origin` shows whose form it is.
      'Referrer-Policy': 'same-origin',
    });
    sendText(response, 'text/html', pages.render(template, model));
  };
}

const advice: Readonly<Record<string, string>> = {
  session_required: 'Open the start page. It shows how to sign in with your client.',
  foreign_form: 'Nothing was changed. Use the forms of the developer pages.',
  identifier_used:
    'Open the launch builder again for a payload with a new identifier. Only UpdateTest, PatientSampleQueue and PatientReport may repeat the identifier of an OrderTest.',
  insufficient_scope: 'The operator can change the rights of your client.',
  too_many_requests: 'Wait, go back and send the form again.',
  temporarily_unavailable: 'Go back and send the form again in a few seconds.',
  not_found: 'Check the address, or go to the start page.',
};

/** Creates the dialect that answers browsers with a page, and other clients with problem details. */
export function createDialect(config: Pick<DeveloperPortalConfig, 'isProduction'>, show: Show): ErrorDialect {
  const problem = problemDialect({ ...config, alwaysExplains: true });
  return (error, exchange) => {
    const { response, call } = exchange;
    if (!wantsPage(exchange)) return problem(error, exchange);
    const model = {
      title: error.message,
      text:
        advice[error.code] ??
        'Correct the request and send it again. If it fails again, give the operator the reference.',
      faults: error.faults,
      correlationId: call.correlationId,
    };
    show(response, 'message.njk', model);
  };
}
