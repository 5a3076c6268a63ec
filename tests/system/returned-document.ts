import { xpathsOf } from '@clinical-launch/testing/xml';

export type ReturnedDocument = {
  readonly guid: string;
  readonly messageId: string;
  readonly reference: string;
  /** Code and status of each test, in the order of the document. */
  readonly tests: readonly string[];
  /** The time of the first sample. `takenOfEdta` is the time of the EDTA sample. */
  readonly taken: string;
  readonly takenOfEdta: string;
};

const steps = (...names: readonly string[]) => names.map((name) => `/*[local-name()="${name}"]`).join('');

const expressions = {
  guid: `/${steps('orderHeader', 'guid')}`,
  messageId: `/${steps('messageId')}`,
  reference: `/${steps('orderReference')}`,
  count: `count(/${steps('testOrder')})`,
  taken: `/${steps('sampleCompletionTime')}`,
  takenOfEdta: `//*[local-name()="sample" and contains(., "EDTA")]${steps('sampleCompletionTime')}`,
};

/** XPath has no loop, so the tests are read by position. No Jest test orders more than six tests. */
const places = ['1', '2', '3', '4', '5', '6'] as const;

const testAt = (place: string) => {
  const test = `(/${steps('testOrder')})[${place}]`;
  return `concat(${test}${steps('code', 'value')}, " ", ${test}${steps('Status')})`;
};

const expressionsOfTests = Object.fromEntries(places.map((place) => [place, testAt(place)])) as Record<
  (typeof places)[number],
  string
>;

/** Reads the checked values of a returned document. */
export async function readDocument(document: string): Promise<ReturnedDocument> {
  const { count, ...texts } = await xpathsOf(document, { ...expressions, ...expressionsOfTests });
  if (Number(count) > places.length)
    throw new Error(`The document has ${count} tests, but only ${places.length} are read`);
  return { ...texts, tests: places.slice(0, Number(count)).map((place) => texts[place]) };
}
