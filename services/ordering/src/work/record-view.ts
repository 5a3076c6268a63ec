import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import type { Launch, WorkDependencies } from './launch.ts';

/** Stores the audit event of a view. Call this before the response shows the request. */
export async function recordView(
  { database }: Pick<WorkDependencies, 'database'>,
  { context, call }: Launch,
  orderGuid: string,
): Promise<void> {
  const { launchId, request } = context;
  const viewed = call.event('order.viewed.v1', { orderGuid, launchId, action: request.action });
  await database.transaction().execute((tx) => appendToOutbox(tx, [viewed]));
}
