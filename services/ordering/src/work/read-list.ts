import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { type ListQuery, type RequestPage, readRequestPage } from '../store/request-lists.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Launch } from './launch.ts';

type ListReading = {
  readonly query: ListQuery;
  /** Whether a user reads the page. */
  readonly isRead: boolean;
};

/**
 * Reads a page of the requests that a launch sees. Stores the audit event with their number and their
 * patients before any of them is sent.
 */
export function readList(
  { database, pseudonyms }: Pick<WorkDependencies, 'database' | 'pseudonyms'>,
  { context, call }: Launch,
  { query, isRead }: ListReading,
): Promise<RequestPage> {
  const { launchId, request } = context;
  return database.transaction().execute(async (tx) => {
    const page = await readRequestPage(tx, query);
    const shown = page.requests.flatMap(({ parties }) => pseudonyms.ofPatient(parties.patient) ?? []);
    const patients = [...new Set(shown)];
    const about = { launchId, action: request.action, orders: page.requests.length, patients };
    await appendToOutbox(tx, isRead ? [call.event('orders.listed.v1', about)] : []);
    return page;
  });
}
