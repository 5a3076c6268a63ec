import { setTimeout as delay } from 'node:timers/promises';
import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { waitLimitMs } from '@clinical-launch/testing/until';
import { openOrderingDatabase } from '../src/store/database.ts';
import type { Application, OpenLaunch } from './launches.ts';

/** Waits until the outbox is empty, and returns the events of one type that a launch caused. */
export async function publishedBy<T extends EventType>(
  { storage, published }: Application,
  { launchId }: Pick<OpenLaunch, 'launchId'>,
  type: T,
): Promise<CloudEvent<T>[]> {
  const database = await openOrderingDatabase(storage);
  const deadline = Date.now() + waitLimitMs;
  while ((await database.selectFrom('outbox').select('id').execute()).length > 0) {
    if (Date.now() > deadline) throw new Error('The outbox was not emptied in time');
    await delay(5);
  }
  return published.filter(
    (event): event is CloudEvent<T> => event.type === type && event.correlationid === launchId,
  );
}
