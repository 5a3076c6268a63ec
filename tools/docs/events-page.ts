/** Builds the sections of the events page for the AsyncAPI document: operations, callbacks and fields. */
import { asyncApiDocument } from './asyncapi.ts';
import { code, describe, heading, line, type Part, table } from './markdown.ts';
import { fieldTable, type Schema } from './schema-fields.ts';

type Message = {
  readonly title: string;
  readonly description?: string;
  readonly contentType: string;
  readonly headers?: Schema;
  readonly payload: Schema;
};
type Channel = {
  readonly title: string;
  readonly address: string;
  readonly parameters?: Readonly<Record<string, { readonly description: string }>>;
  readonly messages: Readonly<Record<string, Message>>;
};
type AsyncApi = {
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<
    Record<
      string,
      { readonly action: string; readonly channel: { readonly $ref: string }; readonly summary: string }
    >
  >;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, Schema>> & { readonly CloudEvent: Schema };
  };
};

const headings = [
  { depth: 2, id: 'operations', html: 'Operations' },
  { depth: 2, id: 'callbacks', html: 'Callbacks' },
  { depth: 2, id: 'envelope', html: 'The envelope of an event' },
  { depth: 2, id: 'data', html: 'The data of each event' },
] as const;

/** Returns the sections for the AsyncAPI document as HTML, and their headings for the table of contents. */
export function asyncApiPart(): Part {
  const { channels, operations, components } = asyncApiDocument() as unknown as AsyncApi;
  const [ofOperations, ofCallbacks, ofEnvelope, ofData] = headings;
  const { events: _events, ...callbacks } = channels;
  const rows = Object.entries(operations).map(([name, { action, channel, summary }]) => [
    code(name),
    action,
    code(channel.$ref.split('/').at(-1) ?? ''),
    line(summary),
  ]);
  const html = [
    heading(ofOperations),
    table(['operation', 'action', 'channel', 'summary'], rows),
    heading(ofCallbacks),
    ...Object.entries(callbacks).map(([name, channel]) => callbackSection(name, channel)),
    heading(ofEnvelope),
    fieldTable(components.schemas.CloudEvent),
    heading(ofData),
    ...Object.entries(components.messages).map(
      ([type, { payload }]) =>
        `<details id="${type}"><summary>${code(type)}</summary>\n${fieldTable(dataOf(payload, components.schemas))}</details>\n`,
    ),
  ].join('');
  return { headings, html };
}

function callbackSection(name: string, { title, address, parameters = {}, messages }: Channel): string {
  const shown = Object.values(messages).flatMap(({ description = '', contentType, headers, payload }) => [
    describe(description),
    headers === undefined ? '' : `<p>Headers:</p>\n${fieldTable(headers)}`,
    `<p>Body, ${code(contentType)}:</p>\n${fieldTable(payload)}`,
  ]);
  const places = Object.values(parameters).map((parameter) => line(parameter.description));
  return [
    heading({ depth: 3, id: name, html: line(title) }),
    `<p>${code(`POST ${address}`)}. ${places.join(' ')}</p>\n`,
    ...shown,
  ].join('');
}

/** Returns the schema of the member `data` in the payload of an event, with the schemas to which it refers. */
function dataOf({ allOf = [] }: Schema, schemas: AsyncApi['components']['schemas']): Schema {
  const found = allOf.flatMap(({ properties = {} }) => properties['data'] ?? []);
  const members = Object.entries(found[0]?.properties ?? {}).map(([name, member]) => {
    const referred = '$ref' in member ? schemas[String(member.$ref).split('/').at(-1) ?? ''] : undefined;
    return [name, referred ?? member];
  });
  return { ...found[0], properties: Object.fromEntries(members) };
}
