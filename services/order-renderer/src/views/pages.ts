import { escapeMarkup } from '@clinical-launch/contracts/formats';
import type { OrderDocument } from '../store/documents.ts';

/**
 * Returns the page for the Notepad IFRAME (OLTR: Returned data). Its TEXTAREA named Output contains the
 * document. If the launch amended several orders, another TEXTAREA of that name follows for each further
 * order.
 */
export function notepadPage(
  { xml, orderGuid }: OrderDocument,
  others: readonly OrderDocument[] = [],
): string {
  const title = 'Order document (XML)';
  const label = (guid: string) => (others.length === 0 ? title : `${title} of request ${guid}`);
  return page({
    title: others.length === 0 ? 'Order document' : 'Order documents',
    body: [
      outputField({ id: 'Output', label: label(orderGuid), xml }),
      ...others.map((other) =>
        outputField({ id: `Output-${other.orderGuid}`, label: label(other.orderGuid), xml: other.xml }),
      ),
    ].join('\n'),
  });
}

/**
 * Returns a TEXTAREA. The HTML parser would drop a line feed right after the start tag, but the document
 * starts with "<?xml".
 */
const outputField = ({ id, label, xml }: { id: string; label: string; xml: string }) =>
  `<label for="${id}">${label}</label>
<textarea name="Output" id="${id}" rows="40" cols="120" readonly>${escapeMarkup(xml)}</textarea>`;

function page({ title, body }: { readonly title: string; readonly body: string }): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
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
