import { listDeadLetters, replayDeadLetters } from '@clinical-launch/events/dead-letters';
import type { StoredDeadLetter } from '@clinical-launch/events/event-message';
import type { Broker } from '@clinical-launch/events/rabbitmq-topology';
import type { Argument } from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';
import type { Group } from '../command.ts';
import { amqpNamespace, amqpUrl, optional, required } from '../settings.ts';

const settings = [amqpUrl, amqpNamespace];
const consumer: Argument = {
  name: 'consumer',
  summary: 'A service that consumes events: audit-trail, order-renderer, ...',
};
const eventIds: Argument = {
  name: 'event id',
  summary: 'The dead letters to replay (default: all)',
  isOptional: true,
  isRepeatable: true,
};

/** `./clinical-launch dead-letters` */
export const deadLetters: Group = {
  commands: {
    list: {
      summary: 'Prints the dead letters of a consumer, oldest first, one JSON object per line.',
      example: 'audit-trail',
      details: 'The data of the events is not printed. The dead letters stay in their queue.',
      arguments: [consumer],
      settings,
      async run({ arguments: [name = ''], environment }) {
        const letters = (await listDeadLetters(brokerOf(environment), name)).map(listed);
        return { lines: letters.map((letter) => JSON.stringify(letter)), result: letters };
      },
    },
    replay: {
      summary: "Moves dead letters back to the consumer's queue, and prints their ids.",
      example: 'audit-trail',
      arguments: [consumer, eventIds],
      settings,
      async run({ arguments: [name = '', ...ids], environment }) {
        const replayed = await replayDeadLetters(
          brokerOf(environment),
          name,
          ids.length > 0 ? ids : undefined,
        );
        const missing = ids.filter((id) => !replayed.includes(id));
        return {
          lines: replayed,
          result: { replayed, missing },
          problems: missing.map((id) => `There is no dead letter ${id}`),
        };
      },
    },
  },
};

function brokerOf(environment: Environment): Broker {
  const url = required(environment, amqpUrl);
  const namespace = optional(environment, amqpNamespace);
  return namespace === undefined ? { url } : { url, namespace };
}

/** Omits `data`, which may be kilobytes of ciphertext that an operator cannot use. */
const listed = ({ event, ...letter }: StoredDeadLetter) => ({
  ...letter,
  type: event?.type,
  source: event?.source,
  occurred: event?.time,
  correlationid: event?.correlationid,
});
