import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { type Order, parseOrder } from '@clinical-launch/contracts/order/order';
import { bindingOfOrder } from '@clinical-launch/crypto/sealing-purposes';
import { until } from '@clinical-launch/testing/until';
import { openOrderingDatabase } from '../src/store/database.ts';
import type { Application, OpenLaunch } from './launches.ts';

/** Waits until the outbox is empty, and returns the events of one type that a launch caused. */
export async function publishedBy<T extends EventType>(
  { storage, published }: Pick<Application, 'storage' | 'published'>,
  { launchId }: Pick<OpenLaunch, 'launchId'>,
  type: T,
): Promise<CloudEvent<T>[]> {
  const database = await openOrderingDatabase(storage);
  await until(async () => (await database.selectFrom('outbox').select('id').execute()).length === 0);
  return published.filter(
    (event): event is CloudEvent<T> => event.type === type && event.correlationid === launchId,
  );
}

/** Waits until the outbox is empty, and returns the order events of a launch. */
export const eventsOf = (application: Pick<Application, 'storage' | 'published'>, launch: OpenLaunch) =>
  publishedBy(application, launch, 'order.submitted.v1');

/** Returns the decrypted order of an event. */
export function orderIn(
  { sealer }: Pick<Application, 'sealer'>,
  { data }: CloudEvent<'order.submitted.v1'>,
): Order {
  const opened = sealer.open('order.submitted.v1', data.sealed, bindingOfOrder(data)) as { order: unknown };
  return parseOrder(opened.order);
}
