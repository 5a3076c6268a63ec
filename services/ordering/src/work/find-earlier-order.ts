import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { knownTests, type OrderAgain, orderAgain } from '../domain/order-again.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { visibilityUnder } from '../store/keys.ts';
import { findNewest, findRequest } from '../store/test-requests.ts';
import type { Choosing } from './launch.ts';
import { repeatsAmong } from './select-tests.ts';

type Ordering = {
  readonly context: LaunchContext;
  /** The request that is changed; absent for a new order. */
  readonly changed?: TestRequest | undefined;
};

/**
 * Finds the request whose tests a new order can repeat: the patient's newest request in the launch's
 * practice. Ignores requests of other practices, because no user of this practice chose their tests.
 */
export async function findEarlierOrder(
  database: OrderingDatabase,
  { context, changed }: Ordering,
): Promise<TestRequest | undefined> {
  return changed === undefined ? findNewest(database, earlierVisibility(context)) : undefined;
}

/** Finds a request whose tests a new order can repeat, by the GUID in the value of a button. */
export async function getEarlierOrder(
  database: OrderingDatabase,
  { context, changed }: Ordering,
  guid: string,
): Promise<TestRequest | undefined> {
  return changed === undefined ? findRequest(database, guid, earlierVisibility(context)) : undefined;
}

/** Returns the tests of an earlier request that a new order can repeat today. */
export async function repeatOrder(
  database: OrderingDatabase,
  choosing: Choosing,
  earlier: TestRequest,
): Promise<OrderAgain> {
  const { catalogue, patient } = choosing;
  const repeats = await repeatsAmong(database, choosing, knownTests(earlier, catalogue));
  return orderAgain(earlier, catalogue, { patient, repeats });
}

const earlierVisibility = (context: LaunchContext) => visibilityUnder('patient-of-practice', context);
