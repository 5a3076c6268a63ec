import { escapeMarkup } from '@clinical-launch/contracts';

/** The page in the Notepad IFRAME (OLTR: Returned data): a TEXTAREA named Output that holds the document. */
export function notepadPage(xml: string): string {
  // A line feed right after the start tag would be dropped by the HTML parser; the document begins with "<?xml".
  return page({
    title: 'Order document',
    body: `<label for="Output">Order document (XML)</label>
<textarea name="Output" id="Output" rows="40" cols="120" readonly>${escapeMarkup(xml)}</textarea>`,
  });
}

type Message = {
  readonly message: string;
  /** The page loads itself again after this long. */
  readonly refreshAfterSeconds?: number;
  readonly correlationId?: string;
};

/** A page that says why there is no document. */
export function messagePage({ message, refreshAfterSeconds, correlationId }: Message): string {
  return page({
    title: 'Order document not available',
    ...(refreshAfterSeconds === undefined ? {} : { refreshAfterSeconds }),
    body: `<h1>Order document not available</h1>
<p>${escapeMarkup(message)}</p>${correlationId === undefined ? '' : `\n<p>Correlation id: ${escapeMarkup(correlationId)}</p>`}`,
  });
}

type Page = { readonly title: string; readonly body: string; readonly refreshAfterSeconds?: number };

function page({ title, body, refreshAfterSeconds }: Page): string {
  const refresh =
    refreshAfterSeconds === undefined
      ? ''
      : `\n<meta http-equiv="refresh" content="${String(refreshAfterSeconds)}">`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">${refresh}
<title>${escapeMarkup(title)}</title>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
