import { type Draft, isOffered, type OfferedDraft } from '../domain/draft.ts';
import type { OrderAgain } from '../domain/order-again.ts';
import type { OwnChoices } from '../domain/practice-choices.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { findDraft, findOfferedDraft } from '../store/drafts.ts';
import { choicesKeyOf, practiceKeyOf, userKeyOf } from '../store/keys.ts';
import { findMostRequested } from '../store/most-requested.ts';
import { findPersonalFavourites } from '../store/personal-favourites.ts';
import { findPracticeChoices } from '../store/practice-choices.ts';
import { findEarlierOrder, repeatOrder } from './find-earlier-order.ts';
import type { Choosing, WorkDependencies } from './launch.ts';

type ReadDependencies = Pick<WorkDependencies, 'database'>;

/** Returns whether a draft is stored. The first change of the user stores the draft. */
export const hasDraft = async ({ database }: ReadDependencies, { place }: Choosing) =>
  (await findDraft(database, place)) !== undefined;

/** Returns the current draft. */
export const readDraft = async (
  { database }: ReadDependencies,
  { place, beginning }: Choosing,
): Promise<Draft> => (await findDraft(database, place)) ?? beginning;

/** Finds the draft of an earlier launch that the user can continue in this launch. */
export const findOffer = async (
  { database }: ReadDependencies,
  { place, now }: Choosing,
  draft: Draft,
): Promise<OfferedDraft | undefined> =>
  isOffered(draft) ? findOfferedDraft(database, place, now) : undefined;

/** Reads the favourites and order sets of the user and their practice. */
export async function readOwnChoices(
  { database }: ReadDependencies,
  { catalogue, context: { request, client } }: Choosing,
): Promise<OwnChoices> {
  const ofPractice = await findPracticeChoices(
    database,
    choicesKeyOf(request.practice, client, catalogue.id),
  );
  const personal = await findPersonalFavourites(database, userKeyOf(request, client, catalogue.id));
  return { ...ofPractice, personal };
}

/** The most requested tests and the earlier request. The page shows them above the catalogue. */
export type Shortcuts = {
  /** Codes of the tests that the practice requests most, most requested first. */
  readonly mostRequested: readonly string[];
  /** The request whose tests a new order can repeat. */
  readonly earlier: (OrderAgain & { readonly request: TestRequest }) | undefined;
};

/** Reads the most requested tests of the practice, and the request whose tests can be repeated. */
export async function readShortcuts({ database }: ReadDependencies, choosing: Choosing): Promise<Shortcuts> {
  const { practice } = choosing.context.request;
  const most = await findMostRequested(database, practiceKeyOf(practice, choosing.context.client));
  const request = await findEarlierOrder(database, choosing);
  const earlier = request && { request, ...(await repeatOrder(database, choosing, request)) };
  return { mostRequested: most?.codes ?? [], earlier };
}
