/** Builds docs/reference/events.md from the event catalogue. */
import { type EventType, eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { eventConsumers, eventSources, listenersTo } from '@clinical-launch/contracts/events/cloud-event';

export const eventsFile = new URL('../../docs/reference/events.md', import.meta.url);

type Schema = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
};

const types = Object.keys(eventCatalogue) as EventType[];
const schemaOf = (type: EventType): Schema => eventCatalogue[type] as Schema;
/** Members that every event may have. */
const shared = ['user', 'practice', 'patient', 'address'];

function membersOf(type: EventType): string {
  const { properties = {}, required = [] } = schemaOf(type);
  const names = Object.keys(properties).filter((name) => !shared.includes(name));
  const shown = names.map((name) => {
    const values = properties[name]?.enum?.map((value) => `\`${String(value)}\``) ?? [];
    const choice = values.length > 0 ? ` (${values.join(', ')})` : '';
    return `\`${name}\`${required.includes(name) ? '' : '?'}${choice}`;
  });
  return shown.length > 0 ? shown.join(', ') : 'none';
}

/** Returns the text of `docs/reference/events.md`. */
export function eventsText(): string {
  const sections = Object.entries(eventSources).map(([service, sent]) => {
    const rows = sent.map((type) => {
      const listeners = listenersTo(type).join(', ');
      return `| \`${type}\` | ${schemaOf(type).description ?? ''} | ${membersOf(type)} | ${listeners} |`;
    });
    return `## ${service}\n\n| event | when | data | consumers |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  const consumers = Object.entries(eventConsumers).map(
    ([queue, { service, types: wanted }]) =>
      `| \`clinical-launch.${queue}\` | ${service} | ${wanted?.map((type) => `\`${type}\``).join(', ') ?? `all ${types.length}`} |`,
  );
  return `<!-- Written by \`npm run docs\` from the event catalogue. Change the \`description\` of an event there. -->

# Events

For operators and reviewers: the events between the services. The envelope, the schema of each event and the callbacks to
practice systems are in [asyncapi.yaml](../asyncapi.yaml).

- An event is a [CloudEvent](https://cloudevents.io) in structured mode. Its type is its routing key.
- Delivery is at least once. Detect duplicates by \`id\`.
- \`correlationid\` is the GUID of the launch. Outside a launch, \`correlationid\` is the GUID of the HTTP request, or random for an operator's command.
- \`data\` contains no unencrypted patient data: \`patient\` is a pseudonym, and \`sealed\` is encrypted.
- Every event may also contain \`user\`, \`practice\`, \`patient\` and \`address\`, which state whom the event concerns.
- A member with \`?\` may be absent. Ignore unknown members.

${sections.join('\n')}
## Queues

| queue | service | events |
|---|---|---|
${consumers.join('\n')}

A message that a consumer could not process waits in \`clinical-launch.<consumer>.dead-letters\`
([runbook](../runbooks/dead-letters.md)).
`;
}
