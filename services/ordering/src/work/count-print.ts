import { appendToOutbox } from '@clinical-launch/storage';
import type { PrintedPaper, Printing } from '../domain/printing.ts';
import { findPrints, insertPrint, lockForPrinting } from '../store/prints.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Launch } from './launch.ts';

/** Records that a paper of a request, which the launch sees, is printed. */
export function countPrint(
  { database, clock }: Pick<WorkDependencies, 'database' | 'clock'>,
  { context, call }: Launch,
  { guid, what }: { readonly guid: string; readonly what: PrintedPaper },
): Promise<Printing> {
  const { launchId } = context;
  const at = new Date(clock.now()).toISOString();
  return database.transaction().execute(async (tx) => {
    await lockForPrinting(tx, guid);
    const before = await findPrints(tx, { guid, what });
    await insertPrint(tx, { guid, what }, { context, at });
    const isReprint = before.length > 0;
    await appendToOutbox(tx, [
      call.event('order.printed.v1', { orderGuid: guid, launchId, what, isReprint }),
    ]);
    const [last] = before;
    return { at, ...(last && { before: { times: before.length, ...last } }) };
  });
}
