import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { escapeMarkup } from '../formats.ts';
import { defaultXmlNamespace } from '../namespaces.ts';

/**
 * The path of the file with the XML Schema of the order document, for tools that read files. The schema in
 * the file has the default namespace.
 */
export const xsdPath = fileURLToPath(new URL('order-document.xsd', import.meta.url));

/**
 * Returns the XML Schema 1.0 of the order document for a namespace ({xml_ns}). Do not call this function for
 * each request, because it reads the file.
 */
export function orderDocumentXsd(xmlNamespace: string = defaultXmlNamespace): string {
  return readFileSync(xsdPath, 'utf8').replaceAll(defaultXmlNamespace, () => escapeMarkup(xmlNamespace));
}
