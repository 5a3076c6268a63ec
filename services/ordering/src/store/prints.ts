import type { CloudEvent, LaunchContext, LaunchRequest } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { appendToOutbox } from '@clinical-launch/storage';
import type { OrderingDatabase } from './database.ts';
import { jsonb } from './database.ts';

/** What is printed of a request. */
export type PrintedPaper = 'form' | 'labels';

export type Printing = {
  /** ISO 8601 instant */
  readonly at: string;
  /** How often the same was printed of this request before, and who did it last; absent when this is the first time. */
  readonly before?: {
    readonly times: number;
    readonly at: string;
    readonly author: LaunchRequest['author'];
  };
};

type NewPrint = {
  readonly context: LaunchContext;
  /** A request that the launch sees. */
  readonly guid: string;
  readonly what: PrintedPaper;
  readonly eventsOf: (printing: Printing) => readonly CloudEvent[];
};

export type Prints = {
  /** Counts that something is printed. The count and its events are kept together; of two at once one comes first. */
  add(print: NewPrint): Promise<Printing>;
};

/** Keeps who printed what, and when. */
export function createPrints(database: OrderingDatabase, clock: Clock): Prints {
  return {
    add: ({ context, guid, what, eventsOf }) =>
      database.transaction().execute(async (transaction) => {
        // Held to the end: a second print of this request waits here, and then finds the first.
        await transaction
          .selectFrom('test_requests')
          .select('guid')
          .where('guid', '=', guid)
          .forNoKeyUpdate()
          .executeTakeFirstOrThrow();
        const before = await transaction
          .selectFrom('prints')
          .select(['author', 'printed_at'])
          .where('request_guid', '=', guid)
          .where('what', '=', what)
          .orderBy('id', 'desc')
          .execute();
        const at = new Date(clock.now()).toISOString();
        await transaction
          .insertInto('prints')
          .values({
            request_guid: guid,
            what,
            launch_id: context.launchId,
            author: jsonb(context.request.author),
            printed_at: at,
          })
          .execute();
        const [last] = before;
        const printing: Printing =
          last === undefined
            ? { at }
            : {
                at,
                before: { times: before.length, at: last.printed_at.toISOString(), author: last.author },
              };
        await appendToOutbox(transaction, eventsOf(printing));
        return printing;
      }),
  };
}
