import { readFileSync } from 'node:fs';
import {
  type Broker,
  listDeadLetters,
  replayDeadLetters,
  type StoredDeadLetter,
} from '@clinical-launch/events';

const usage = `Usage: node deploy/ops/src/dead-letters/command.ts list <consumer>
       node deploy/ops/src/dead-letters/command.ts replay <consumer> [event id ...]

  list    prints the dead letters of a consumer (audit-trail, order-renderer, ...), oldest first, one JSON object a
          line, without the data of the event, and leaves them where they are
  replay  moves them, or those of the given event ids, back to the consumer's queue, and prints the ids that went

  AMQP_URL        the broker, amqp://user:password@host:5672; or AMQP_URL_FILE, a file with it. The user is the operator's
  AMQP_NAMESPACE  the prefix of the queues, when it is not the usual one

Ends with 0 when it worked, 1 when it did not (a given id that is not there included), 2 when it was called wrongly.
`;

async function run(
  [command, consumer, ...ids]: readonly string[],
  { AMQP_URL, AMQP_URL_FILE: file, AMQP_NAMESPACE: namespace }: NodeJS.ProcessEnv,
): Promise<number> {
  if (command === '--help') {
    process.stdout.write(usage);
    return 0;
  }
  const isList = command === 'list' && ids.length === 0;
  if (consumer === undefined || (!isList && command !== 'replay')) return misuse(usage);
  const url = AMQP_URL || (file ? readFileSync(file, 'utf8').trim() : '');
  if (url === '') return misuse('AMQP_URL is not set\n');
  const broker = namespace === undefined || namespace === '' ? { url } : { url, namespace };
  try {
    return await (isList ? list(broker, consumer) : replay(broker, consumer, ids));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'It did not work'}\n`);
    return 1;
  }
}

function misuse(text: string): number {
  process.stderr.write(text);
  return 2;
}

async function list(broker: Broker, consumer: string): Promise<number> {
  const letters = await listDeadLetters(broker, consumer);
  process.stdout.write(letters.map((letter) => `${JSON.stringify(lineOf(letter))}\n`).join(''));
  return 0;
}

/** Without `data`: it may be ciphertext of kilobytes, and nobody can act on it here. */
const lineOf = ({ event, ...letter }: StoredDeadLetter) => ({
  ...letter,
  type: event?.type,
  source: event?.source,
  occurred: event?.time,
  correlationid: event?.correlationid,
});

async function replay(broker: Broker, consumer: string, ids: readonly string[]): Promise<number> {
  const replayed = await replayDeadLetters(broker, consumer, ids.length > 0 ? ids : undefined);
  process.stdout.write(replayed.map((id) => `${id}\n`).join(''));
  const missing = ids.filter((id) => !replayed.includes(id));
  for (const id of missing) process.stderr.write(`There is no dead letter ${id}\n`);
  return missing.length === 0 ? 0 : 1;
}

process.exitCode = await run(process.argv.slice(2), process.env);
