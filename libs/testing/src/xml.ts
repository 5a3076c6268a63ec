import { orderDocumentXsd } from '@clinical-launch/contracts/order/order-document';

/** Loads libxml2 at its first use, because the import compiles WebAssembly. */
const libxml2 = () => import('libxml2-wasm');

/**
 * Returns the errors that libxml2 finds when it validates a document against a schema; by default, the schema
 * of order documents.
 * @throws XmlParseError when the document is not well-formed
 */
export async function schemaFaultsOf(document: string, schema = orderDocumentXsd()): Promise<string[]> {
  const { XmlDocument, XmlValidateError, XsdValidator } = await libxml2();
  using xsd = XmlDocument.fromString(schema);
  using validator = XsdValidator.fromDoc(xsd);
  using xml = XmlDocument.fromString(document);
  try {
    validator.validate(xml);
    return [];
  } catch (error) {
    if (error instanceof XmlValidateError) return error.details.map(({ message }) => message);
    throw error;
  }
}

/** Returns libxml2's value of an XPath expression. @throws TypeError when the value is not text */
export async function xpathOf(document: string, expression: string): Promise<string> {
  const { XmlDocument } = await libxml2();
  using xml = XmlDocument.fromString(document);
  const value = xml.eval(expression);
  if (typeof value !== 'string') throw new TypeError(`The value of ${expression} is not text`);
  return value;
}

/** Returns the text of each node that an XPath expression finds. @throws XmlParseError */
export async function nodeTextsOf(document: string, expression: string): Promise<string[]> {
  const { XmlDocument } = await libxml2();
  using xml = XmlDocument.fromString(document);
  return xml.find(expression).map(({ content }) => content);
}

/** Returns libxml2's text of each XPath expression, by its key. Parses the document once. */
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
