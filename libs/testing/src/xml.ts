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

/** Returns libxml2's text of each XPath expression, by its key: one parse, which starts a worker, for all. */
export async function xpathsOf<Key extends string>(
  document: string,
  expressions: Readonly<Record<Key, string>>,
): Promise<Record<Key, string>> {
  const separator = '\u2063';
  const keys = Object.keys(expressions) as Key[];
  const texts = keys.map((key) => `string(${expressions[key]}), "${separator}"`);
  const values = (await xpathOf(document, `concat(${texts.join(', ')}, "")`)).split(separator);
  return Object.fromEntries(keys.map((key, index) => [key, values[index] ?? ''])) as Record<Key, string>;
}

/** Returns the text at each path below the root. */
export function textsAt(document: string, paths: readonly string[]): Promise<Record<string, string>> {
  const expressionAt = (path: string) =>
    `/*/${path
      .split('/')
      .map((name) => `*[local-name()="${name}"]`)
      .join('/')}`;
  return xpathsOf(document, Object.fromEntries(paths.map((path) => [path, expressionAt(path)])));
}
