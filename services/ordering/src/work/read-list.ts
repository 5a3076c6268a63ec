import { appendToOutbox } from '@clinical-launch/storage';
import { type ListQuery, type RequestPage, readRequestPage } from '../store/request-lists.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Launch } from './launch.ts';

type ListReading = {
  readonly query: ListQuery;
  /** Whether a user reads the page. */
  readonly isRead: boolean;
};

/**
 * Reads a page of the requests that a launch sees. Stores the audit event with their number before any of
 * them is sent.
 */
export function readList(
  { database }: Pick<WorkDependencies, 'database'>,
  { context, call }: Launch,
  { query, isRead }: ListReading,
): Promise<RequestPage> {
  const { launchId, request } = context;
  return database.transaction().execute(async (tx) => {
    const page = await readRequestPage(tx, query);
    const orders = page.requests.length;
    const about = { launchId, action: request.action, orders };
    await appendToOutbox(tx, isRead ? [call.event('orders.listed.v1', about)] : []);
    return page;
  });
}
