import { orderDocumentXsd } from '@clinical-launch/contracts';
import { validateXML } from 'xmllint-wasm';

/**
 * Returns the errors that libxml2 finds in a document against a schema; the order document's own by default.
 */
export async function schemaFaultsOf(document: string, schema = orderDocumentXsd()): Promise<string[]> {
  const { errors } = await validateXML({ xml: document, schema });
  return errors.map(({ message }) => message);
}

/** Returns libxml2's value of an XPath expression, without the line feed that the tool adds. */
export async function xpathOf(document: string, expression: string): Promise<string> {
  const { normalized, rawOutput } = await validateXML({
    xml: { fileName: 'order.xml', contents: document },
    normalization: 'format',
    modifyArguments: () => ['--xpath', expression, 'order.xml'],
  });
  if (!normalized.endsWith('\n')) throw new Error(`XPath failed: ${rawOutput}`);
  return normalized.slice(0, -1);
}

/** Returns the text at each path below the root: one parse for all of them. */
export async function textsAt(document: string, paths: readonly string[]): Promise<Record<string, string>> {
  const separator = '\u2063';
  const stringsAt = paths.map((path) => {
    const steps = path.split('/').map((name) => `*[local-name()="${name}"]`);
    return `string(/*/${steps.join('/')}), "${separator}"`;
  });
  const values = (await xpathOf(document, `concat(${stringsAt.join(', ')}, "")`)).split(separator);
  return Object.fromEntries(paths.map((path, index) => [path, values[index] ?? '']));
}
