import { guidPattern } from '@clinical-launch/contracts';
import {
  type DeliveryState,
  listDeliveries,
  openSchema,
  replayDeliveries,
} from '@clinical-launch/order-renderer/delivery-desk';
import { openPostgresStorage } from '@clinical-launch/storage';

const usage = `Usage: npm run deliveries -- list [dead | pending | delivered]
       npm run deliveries -- replay --all
       npm run deliveries -- replay <message id> ...

  list    prints deliveries to callback addresses, those that were given up unless another state is named, oldest
          first, one JSON object a line, without the document
  replay  has those that were given up delivered anew, all or those of the given message ids, and prints the ids that
          went; one that was delivered goes again when its id is given

  DATABASE_URL  the database of the order renderer, postgres://user:password@host:5432/database

Ends with 0 when it worked, 1 when it did not (a given id that is not there included), 2 when it was called wrongly.
`;

type Task =
  | { readonly command: 'list'; readonly state: DeliveryState }
  | { readonly command: 'replay'; readonly messageIds?: readonly string[] };

async function run(args: readonly string[], { DATABASE_URL: url }: NodeJS.ProcessEnv): Promise<number> {
  if (args[0] === '--help') {
    process.stdout.write(usage);
    return 0;
  }
  const task = taskOf(args);
  if (task === undefined) return misuse(usage);
  if (url === undefined || url === '') return misuse('DATABASE_URL is not set\n');
  const storage = await openPostgresStorage({ url, applicationName: 'deliveries', poolSize: 1 });
  try {
    const database = await openSchema(storage);
    if (task.command === 'list') return print(await listDeliveries(database, task.state));
    return tell(await replayDeliveries(database, Date.now(), task.messageIds), task.messageIds ?? []);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'It did not work'}\n`);
    return 1;
  } finally {
    await storage.close();
  }
}

const states: readonly DeliveryState[] = ['dead', 'pending', 'delivered'];

function taskOf([command, ...rest]: readonly string[]): Task | undefined {
  const [first = 'dead', ...more] = rest;
  const state = states.find((name) => name === first);
  if (command === 'list') return state === undefined || more.length > 0 ? undefined : { command, state };
  if (command !== 'replay') return undefined;
  if (first === '--all' && more.length === 0) return { command };
  const areIds = rest.length > 0 && rest.every((id) => new RegExp(guidPattern).test(id));
  return areIds ? { command, messageIds: rest } : undefined;
}

function misuse(text: string): number {
  process.stderr.write(text);
  return 2;
}

function print(lines: readonly object[]): number {
  process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return 0;
}

function tell(replayed: readonly string[], asked: readonly string[]): number {
  process.stdout.write(replayed.map((id) => `${id}\n`).join(''));
  const missing = asked.filter((id) => !replayed.includes(id));
  for (const id of missing) process.stderr.write(`There is no delivery of ${id} that could go again\n`);
  return missing.length === 0 ? 0 : 1;
}

process.exitCode = await run(process.argv.slice(2), process.env);
