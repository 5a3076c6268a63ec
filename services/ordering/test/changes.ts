import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import { recordSamples, samplesOf } from '../src/domain/record-samples.ts';
import type { TestRequest } from '../src/domain/test-request.ts';
import { jsonb, openOrderingDatabase } from '../src/store/database.ts';
import { toTestRequest } from '../src/store/test-requests.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  fieldValues,
  neededFor,
  type OpenLaunch,
  openAction,
} from './launches.ts';
import { orderIn } from './published-events.ts';

/** A launch of UpdateTest. `at` is the path of the page on which the user changes the tests of a request. */
export type Changer = OpenLaunch & { readonly guid: string; readonly at: string };

/** Creates an order of these tests for a new patient. */
export const anOrderToChange = (application: Application, tick: string[]) =>
  anOrder(application, tick, aLaunchContext({ request: { patient: aPatient() } }));

/** Opens a launch of UpdateTest for an order. */
export async function openChange(
  application: Application,
  ordered: Awaited<ReturnType<typeof anOrder>>,
): Promise<Changer> {
  const launch = await openAction(application, 'UpdateTest', ordered);
  return { ...launch, at: `requests/${launch.guid}/tests/` };
}

/** Returns the fields `version` and `submission` of the form on the review page. */
export async function reviewed(launch: Changer): Promise<[string, string][]> {
  const html = await launch.page(`${launch.at}review`);
  return ['version', 'submission'].map((name) => [name, fieldValues(html, name)[0] ?? '']);
}

/** Submits the form of the review page, with additional fields. */
export const submitChange = async (launch: Changer, fields: [string, string][] = []) =>
  launch.post(`${launch.at}review`, [
    ...(await reviewed(launch)),
    ...neededFor(await launch.page(`${launch.at}review`)).filter(([name]) =>
      fields.every(([own]) => own !== name),
    ),
    ...fields,
    ['action', 'submit'],
  ]);

/** Returns the URL that a response redirects to. */
export const locationOf = (response: Response) => response.headers.get('location');

/** Returns the stored request. */
export async function stored({ storage }: Application, guid: string): Promise<TestRequest> {
  const database = await openOrderingDatabase(storage);
  const row = await database
    .selectFrom('test_requests')
    .selectAll()
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  return toTestRequest(row);
}

/** Returns a line for each test of each batch, with its code, sample id and status: `HFBC S1 R`. */
export const linesOf = ({ batches }: Pick<TestRequest, 'batches'>) =>
  batches.map(({ tests }) => tests.map(({ code, sample, status }) => `${code.value} ${sample} ${status}`));

/**
 * Records the samples in this container as collected, without changing the status or the version of the
 * request.
 */
export async function takeSample(
  application: Application,
  { guid }: { guid: string },
  container: string,
): Promise<void> {
  const request = await stored(application, guid);
  const collected = { at: request.updatedAt, by: 'Hill, Ada' };
  const records = samplesOf(request)
    .filter(({ sample }) => sample.container === container)
    .map(({ sample }) => ({ sample: sample.id, collected, quantity: 1 }));
  await storeBatches(application, recordSamples(request, records, request.updatedAt));
}

/** Changes the code of a test in a request to OLD, which the catalogue does not contain. */
export async function withdraw(
  application: Application,
  { guid }: { guid: string },
  code: string,
): Promise<void> {
  const request = await stored(application, guid);
  const batches = request.batches.map((batch) => ({
    ...batch,
    tests: batch.tests.map((test) =>
      test.code.value === code ? { ...test, code: { ...test.code, value: 'OLD' } } : test,
    ),
  }));
  await storeBatches(application, { guid, batches });
}

async function storeBatches(
  { storage }: Application,
  { guid, batches }: Pick<TestRequest, 'guid' | 'batches'>,
): Promise<void> {
  const database = await openOrderingDatabase(storage);
  await database
    .updateTable('test_requests')
    .set({ batches: jsonb([...batches]) })
    .where('guid', '=', guid)
    .execute();
}

/**
 * Waits for `count` published orders of a request. Returns the events with their decrypted orders, oldest
 * first.
 */
export async function publishedOrders({ published, sealer }: Application, guid: string, count: number) {
  const eventsNow = () =>
    published.filter(
      (event): event is CloudEvent<'order.submitted.v1'> =>
        event.type === 'order.submitted.v1' && (event.data as { orderGuid: string }).orderGuid === guid,
    );
  await until(() => eventsNow().length >= count);
  return eventsNow().map((event) => ({ event, order: orderIn({ sealer }, event) }));
}
