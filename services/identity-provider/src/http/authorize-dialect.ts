import { escapeMarkup } from '@clinical-launch/contracts/markup';
import { preferredType, sendText, setHeaders } from '@clinical-launch/http/answer';
import { type ErrorDialect, oauthDialect } from '@clinical-launch/http/errors';
import { pageHeaders } from '@clinical-launch/pages/page-headers';

/** Answers the errors of authorize: OAuth's JSON, or the same as a page for a browser that a person uses. */
export const authorizeDialect: ErrorDialect = (error, exchange) => {
  const { request, response, call } = exchange;
  if (preferredType(request, ['application/json', 'text/html']) !== 'text/html')
    return oauthDialect(error, exchange);
  const { correlationId } = call;
  setHeaders(response, pageHeaders());
  sendText(response, 'text/html', page({ error: error.code, description: error.message, correlationId }));
};

function page(reported: { error: string; description: string; correlationId: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>The application cannot be opened</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body>
<main>
<h1>The application cannot be opened</h1>
<p>Start it again from the host application. If this page appears again, give support this reference:</p>
<dl>
<dt>error</dt><dd>${escapeMarkup(reported.error)}</dd>
<dt>error_description</dt><dd>${escapeMarkup(reported.description)}</dd>
<dt>correlation_id</dt><dd>${escapeMarkup(reported.correlationId)}</dd>
</dl>
</main>
</body>
</html>
`;
}
