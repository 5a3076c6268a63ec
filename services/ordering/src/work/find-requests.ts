import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { guidForm } from '@clinical-launch/contracts/schema';
import { actionRules } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { visibilityOf } from '../store/keys.ts';
import { type Submission, submissionsOf, submissionsTo } from '../store/submissions.ts';
import {
  findNamed,
  findOrderOf,
  findOtherBirths,
  findRequest,
  type OtherBirths,
} from '../store/test-requests.ts';
import type { WorkDependencies } from './launch.ts';

type ReadDependencies = Pick<WorkDependencies, 'database'>;

/** Finds a request that a launch can see. */
export async function findVisible(
  { database }: ReadDependencies,
  context: LaunchContext,
  guid: string,
): Promise<TestRequest | undefined> {
  return guidForm.test(guid) ? findRequest(database, guid, visibilityOf(context)) : undefined;
}

/**
 * Finds requests by their GUIDs, in the given order. Returns undefined if the launch cannot see every
 * request.
 */
export async function findAllVisible(
  dependencies: ReadDependencies,
  context: LaunchContext,
  guids: readonly string[],
): Promise<readonly TestRequest[] | undefined> {
  if (!guids.every((guid) => guidForm.test(guid))) return undefined;
  const found = await Promise.all(guids.map((guid) => findVisible(dependencies, context, guid)));
  const requests = found.filter((request) => request !== undefined);
  return requests.length === guids.length ? requests : undefined;
}

/** Finds the order that a launch submitted. */
export const findOwnOrder = ({ database }: ReadDependencies, launchId: string) =>
  findOrderOf(database, launchId);

/** Finds the request with the launch's originating id, if the launch can see it. */
export const findNamedRequest = ({ database }: ReadDependencies, context: LaunchContext) =>
  findNamed(database, context);

/**
 * Finds requests under a number of the launch's patient for a person with another date of birth. They are not
 * offered, but the user must know of them. The launch of a whole practice has no patient.
 */
export async function findOthersUnderNumber(
  { database }: ReadDependencies,
  context: LaunchContext,
): Promise<OtherBirths | undefined> {
  if (actionRules[context.request.action].sees === 'practice') return undefined;
  return findOtherBirths(database, context);
}

/** Returns whether a launch has submitted a version of a request. */
export async function hasSubmitted(
  { database }: ReadDependencies,
  launchId: string,
  guid: string,
): Promise<boolean> {
  const submissions = await submissionsOf(database, launchId);
  return submissions.some(({ requestGuid }) => requestGuid === guid);
}

/**
 * Reads the submissions to a request, oldest first. With `after`, reads only the submissions of later
 * versions.
 */
export async function historyOf(
  { database }: ReadDependencies,
  { guid }: Pick<TestRequest, 'guid'>,
  { after = 0 }: { readonly after?: number } = {},
): Promise<readonly Submission[]> {
  const submissions = await submissionsTo(database, guid);
  return submissions.filter(({ requestVersion }) => requestVersion > after);
}

/** The result of a launch's submission. */
export type LaunchResult = {
  readonly order: TestRequest;
  /** The newest version of the request that this launch submitted. */
  readonly version: number;
  readonly others: readonly TestRequest[];
};

/** Finds the result of a launch's submission to a request. */
export async function findResult(
  dependencies: ReadDependencies,
  context: LaunchContext,
  guid: string,
): Promise<LaunchResult | undefined> {
  const submissions = await submissionsOf(dependencies.database, context.launchId);
  const submission = submissions.find(({ requestGuid }) => requestGuid === guid);
  const order = submission && (await findVisible(dependencies, context, guid));
  if (submission === undefined || order === undefined) return undefined;
  const others = await Promise.all(
    submissions
      .filter(({ requestGuid }) => requestGuid !== guid)
      .map(({ requestGuid }) => findVisible(dependencies, context, requestGuid)),
  );
  return {
    order,
    version: submission.requestVersion,
    others: others.filter((other) => other !== undefined),
  };
}
