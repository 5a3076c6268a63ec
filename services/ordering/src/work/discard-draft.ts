import { emptiedDraft } from '../domain/draft.ts';
import { hideOfferedDrafts, lockDraft, lockOfferedDraft, storeDraft } from '../store/drafts.ts';
import { findOrderOf } from '../store/test-requests.ts';
import type { Choosing, WorkDependencies } from './launch.ts';

/**
 * Empties the draft of a launch. Later launches then offer no drafts of earlier launches. Changes nothing if
 * the launch has submitted its order.
 */
export function discardDraft(
  { database }: Pick<WorkDependencies, 'database'>,
  { place, beginning, now }: Choosing,
): Promise<void> {
  return database.transaction().execute(async (tx) => {
    await lockOfferedDraft(tx, place, now);
    const draft = await lockDraft(tx, place, { beginning, now });
    if ((await findOrderOf(tx, place.launchId)) !== undefined) return;
    await hideOfferedDrafts(tx, place, now);
    await storeDraft(tx, place, { draft: emptiedDraft(draft), now });
  });
}
