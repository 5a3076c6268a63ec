import type { IncomingMessage } from 'node:http';
import { sendText, setHeaders } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { ErrorDialect } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';

const sentForms = new WeakMap<IncomingMessage, URLSearchParams>();

/**
 * Reads the fields of a form, and remembers them for an error page. @throws ServiceError, as `readForm` does
 */
export async function readSentForm(exchange: Exchange): Promise<URLSearchParams> {
  const form = await readForm(exchange);
  sentForms.set(exchange.request, form);
  return form;
}

const advice: Readonly<Record<number, string>> = {
  401: 'Start again from your practice system. We keep a request that you did not submit for 24 hours. Open the same patient to continue it.',
  403: 'Go back to your practice system and start again from there.',
  404: 'Go back to your practice system and start again from there.',
  405: 'Go back to your practice system and start again from there.',
  409: 'Close this page and open the request again from your practice system.',
  429: 'Nothing has been changed. Wait a few seconds, then try again.',
};

const keptText = 'What you typed is kept on this page. Wait a few seconds, then try again.';

const titles: Readonly<Record<number, string>> = {
  405: 'Page not found',
  429: 'Too many requests in a short time',
};

/** Creates the error dialect that answers with an error page in the layout of the application. */
export function pageDialect(pages: Pages): ErrorDialect {
  return (error, { request, response, call }) => {
    const form = error.status >= 500 ? sentForms.get(request) : undefined;
    const page = pages.render('message.njk', {
      title: titles[error.status] ?? error.message,
      text: advice[error.status] ?? (form === undefined ? 'Go back and try again.' : keptText),
      address: request.url,
      fields: [...(form ?? [])].map(([name, value]) => ({ name, value })),
      correlationId: error.status === 401 ? undefined : call.correlationId,
    });
    // Keeps the headers of a launch's page, because they name the origins that may frame it. This is safe,
    // because an error page contains no patient data.
    if (!response.hasHeader('Referrer-Policy'))
      setHeaders(response, pageHeaders({ scriptHashes: [pages.scriptHash] }));
    sendText(response, 'text/html', page);
  };
}
