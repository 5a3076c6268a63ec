import { preferredType, sendText, setHeaders } from '@clinical-launch/http/answer';
import { type ErrorDialect, oauthDialect } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';

const title = 'The application cannot be opened';
const again = 'open the application again from the system where you started.';

/** The next step for the user after a refusal with one of these statuses. */
const advice: Readonly<Record<number, string>> = {
  429: `Wait a minute, then ${again}`,
  503: `Wait a minute, then ${again}`,
};

/**
 * Creates the dialect for errors of the authorization endpoint: a page if the request prefers HTML, as
 * browsers do, and otherwise the JSON of OAuth.
 */
export function authorizeDialect(pages: Pages): ErrorDialect {
  const headers = pageHeaders({ scriptHashes: [pages.scriptHash] });
  return (error, exchange) => {
    const { request, response, call } = exchange;
    if (preferredType(request, ['application/json', 'text/html']) !== 'text/html')
      return oauthDialect(error, exchange);
    const page = pages.render('refused.njk', {
      title,
      advice: advice[error.status] ?? `Close this window, then ${again}`,
      correlationId: call.correlationId,
      error: error.code,
      description: error.message,
    });
    setHeaders(response, headers);
    sendText(response, 'text/html', page);
  };
}
