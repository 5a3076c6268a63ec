import { eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import { listDeadLetters, NoDeadLetterQueue, replayDeadLetters } from '@clinical-launch/events/dead-letters';
import type { StoredDeadLetter } from '@clinical-launch/events/event-message';
import type { Broker } from '@clinical-launch/events/rabbitmq-topology';
import type { Argument } from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';
import type { Group, Outcome } from '../command.ts';
import { amqpNamespace, amqpUrl, optional, required } from '../settings.ts';

const settings = [amqpUrl, amqpNamespace];
const consumer: Argument = {
  name: 'consumer',
  summary: `A consumer of events: ${Object.keys(eventConsumers).join(', ')}`,
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
      summary: 'Prints the dead letters of one consumer or of all, oldest first, one JSON object per line.',
      example: 'audit-trail',
      details: 'The data of the events is not printed. The dead letters stay in their queue.',
      arguments: [{ ...consumer, isOptional: true }],
      settings,
      async run({ arguments: [name], environment }) {
        const broker = brokerOf(environment);
        if (name !== undefined) return outcomeOf((await listDeadLetters(broker, name)).map(listed));
        const found: object[] = [];
        const notes: string[] = [];
        for (const each of Object.keys(eventConsumers)) {
          const letters = await listDeadLetters(broker, each).catch((error: unknown) => {
            if (error instanceof NoDeadLetterQueue) return [];
            throw error;
          });
          found.push(...letters.map((letter) => ({ consumer: each, ...listed(letter) })));
          notes.push(`${each}: ${letters.length} dead letters`);
        }
        return { ...outcomeOf(found), notes };
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

const outcomeOf = (letters: readonly object[]): Outcome => ({
  lines: letters.map((letter) => JSON.stringify(letter)),
  result: letters,
});

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
