import type { Clock } from '@clinical-launch/service';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { findRepeats, type Repeat, repeatSearch } from '../domain/repeats.ts';
import type { ChoosingVisit } from '../http/choosing-visit.ts';
import { boundSightOf, nationalNumbersOf, patientKeysOf } from '../store/keys.ts';
import type { SubmissionWork } from '../store/submission-work.ts';

export type RepeatNeeds = {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly timeZone: string;
  readonly findEarlier: SubmissionWork['findEarlier'];
};

/** Which of these tests were requested for the visit's patient within their minimum interval. */
export async function repeatsAmong(
  tests: readonly Orderable[],
  { context: { client, request }, changed }: Pick<ChoosingVisit, 'context' | 'changed'>,
  { catalogue, clock, timeZone, findEarlier }: RepeatNeeds,
): Promise<Repeat[]> {
  const now = clock.now();
  const search = repeatSearch(tests, catalogue, now);
  if (search === undefined) return [];
  const earlier = await findEarlier({
    ...search,
    patientKeys: patientKeysOf(request, client),
    patientNumbers: nationalNumbersOf(request.patient),
    ...boundSightOf(client),
    ...(changed === undefined ? {} : { except: changed.guid }),
  });
  return findRepeats({ tests, earlier, catalogue, now, timeZone });
}
