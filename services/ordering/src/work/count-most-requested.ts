import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { OrderingTransaction } from '../store/database.ts';
import { practiceKeyOf, visibilityUnder } from '../store/keys.ts';
import { countTests, findMostRequested, storeMostRequested } from '../store/most-requested.ts';

const hourMs = 3_600_000;

/** The limits of the count: 300 requests, at least two requests that contain a test, and 50 codes. */
const counted = { requests: 300, atLeast: 2, codes: 50 };
const countedMs = 90 * 24 * hourMs;

/**
 * Counts the tests that the launch's practice requests most, if the last count is at least an hour old. Runs
 * during a submission, so that no page waits for the count.
 * @param now milliseconds since 1970-01-01T00:00:00Z
 */
export async function countMostRequested(
  tx: OrderingTransaction,
  context: LaunchContext,
  now: number,
): Promise<void> {
  const practiceKey = practiceKeyOf(context.request.practice, context.client);
  const last = await findMostRequested(tx, practiceKey);
  if (last !== undefined && now - last.countedAt < hourMs) return;
  // The count reads requests of the whole practice, but stores only codes, which identify no patient.
  const visibility = visibilityUnder('practice', context);
  const codes = await countTests(tx, { ...counted, visibility, since: now - countedMs });
  await storeMostRequested(tx, practiceKey, { codes, countedAt: now });
}
