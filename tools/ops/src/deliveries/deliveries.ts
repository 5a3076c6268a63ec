import { guidPattern } from '@clinical-launch/contracts/schema';
import {
  deliveryStates,
  type OperatorDeliveries,
  openOperatorDeliveries,
} from '@clinical-launch/order-renderer/operator-deliveries';
import { type Argument, type Option, UsageError } from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { type Group, oneOf } from '../command.ts';
import { databaseUrl, required } from '../settings.ts';

const settings = [{ ...databaseUrl, summary: `The database of the order renderer: ${databaseUrl.summary}` }];
const stateArgument: Argument = {
  name: 'state',
  summary: `One of ${deliveryStates.join(', ')} (default: dead)`,
  isOptional: true,
  faultOf: oneOf(deliveryStates),
};
const guid = new RegExp(guidPattern);
const messageIds: Argument = {
  name: 'message id',
  summary: 'The deliveries to replay, including completed deliveries',
  isOptional: true,
  isRepeatable: true,
  faultOf: (value) => (guid.test(value) ? undefined : 'must be a message id, as list prints it'),
};
const all: Option = { name: 'all', summary: 'Replays every dead delivery' };

/** `./clinical-launch deliveries` */
export const deliveries: Group = {
  commands: {
    list: {
      summary:
        'Prints the deliveries in a state, oldest first, one JSON object per line, without the document.',
      example: 'pending',
      arguments: [stateArgument],
      settings,
      async run({ arguments: [name = 'dead'], environment, now }) {
        const state = deliveryStates.find((known) => known === name) ?? 'dead';
        return atDesk(environment, async (desk) => {
          const [found, { dead, pending }] = [await desk.list(state), await desk.level(now)];
          const lines = found.map((delivery) => JSON.stringify(delivery));
          return { lines, result: found, notes: [`${dead} dead, ${pending} pending`] };
        });
      },
    },
    replay: {
      summary: 'Delivers documents again, and prints their message ids.',
      example: '--all',
      arguments: [messageIds],
      options: [all],
      settings,
      async run({ arguments: ids, options, environment, now }) {
        if (options.has(all.name) === ids.length > 0) throw new UsageError('Give --all, or message ids');
        const replayed = await atDesk(environment, (desk) =>
          desk.replay(now, ids.length > 0 ? ids : undefined),
        );
        const missing = ids.filter((id) => !replayed.includes(id));
        return {
          lines: replayed,
          result: { replayed, missing },
          problems: missing.map((id) => `No delivery ${id} can be replayed`),
        };
      },
    },
  },
};

async function atDesk<Result>(
  environment: Environment,
  work: (desk: OperatorDeliveries) => Promise<Result>,
): Promise<Result> {
  const url = required(environment, databaseUrl);
  const storage = await openPostgresStorage({ url, applicationName: 'ops deliveries', poolSize: 1 });
  try {
    return await work(await openOperatorDeliveries(storage));
  } finally {
    await storage.close();
  }
}
