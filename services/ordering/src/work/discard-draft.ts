import { emptiedDraft } from '../domain/draft.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Choosing } from './launch.ts';

/** Empties the draft of a launch. As the newest of its owner, it also hides those of earlier launches. */
export function discardDraft(
  { database, clock }: Pick<WorkDependencies, 'database' | 'clock'>,
  { place, beginning }: Choosing,
): Promise<void> {
  const now = clock.now();
  return database.transaction().execute(async (tx) => {
    const draft = await lockDraft(tx, place, { beginning, now });
    await storeDraft(tx, place, { draft: emptiedDraft(draft), now });
  });
}
