import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import type { PrintedPaper, Printing } from '../domain/printing.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { findPrints, insertPrint, lockForPrinting } from '../store/prints.ts';
import type { Launch, WorkDependencies } from './launch.ts';

/**
 * Records a print of the form or the labels of each of these requests, in one transaction. The launch must be
 * able to see the requests.
 */
export function countPrints(
  { database, clock, pseudonyms }: Pick<WorkDependencies, 'database' | 'clock' | 'pseudonyms'>,
  { context, call }: Launch,
  { requests, what }: { readonly requests: readonly TestRequest[]; readonly what: PrintedPaper },
): Promise<(Printing & { readonly request: TestRequest })[]> {
  const { launchId } = context;
  const at = new Date(clock.now()).toISOString();

  const countPrint = async (tx: OrderingTransaction, request: TestRequest) => {
    const { guid } = request;
    await lockForPrinting(tx, guid);
    const before = await findPrints(tx, { guid, what });
    await insertPrint(tx, { guid, what }, { context, at });
    const isReprint = before.length > 0;
    const patient = pseudonyms.ofPatient(request.parties.patient);
    const about = { orderGuid: guid, launchId, what, isReprint, ...(patient && { patient }) };
    await appendToOutbox(tx, [call.event('order.printed.v1', about)]);
    const [last] = before;
    return { request, at, ...(last && { before: { times: before.length, ...last } }) };
  };

  return database.transaction().execute(async (tx) => {
    const printings = [];
    // Locks the requests in a fixed order, so that two launches that print the same requests do not deadlock.
    for (const request of requests.toSorted((one, other) => (one.guid < other.guid ? -1 : 1))) {
      printings.push(await countPrint(tx, request));
    }
    return printings;
  });
}
