import { collectionNow } from '../domain/collection-entry.ts';
import { type Draft, maxClinicalDetailsLength } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { type AskedQuestion, askedBy, maxAnswerLength } from '../domain/questions.ts';
import { needingDetails, needsSamples, type ReviewFault } from '../domain/review.ts';
import type { ChoosingVisit } from '../http/choosing-visit.ts';
import type { TestRequests } from '../store/test-requests.ts';
import type { RepeatNeeds } from '../work/find-repeats.ts';
import { presentChosen } from './chosen-model.ts';
import type { WriteTime } from './written-time.ts';

type Shown = {
  readonly draft: Draft;
  readonly faults: readonly ReviewFault[];
  readonly needs: RepeatNeeds & { readonly testRequests: TestRequests; readonly write: WriteTime };
};

/**
 * What the review shows: the tests, the samples, and everything that is asked, with what was typed and what is wrong
 * with it.
 */
export async function presentReview(visit: ChoosingVisit, { draft, faults, needs }: Shown) {
  const presented = await presentChosen(visit, draft, needs);
  const { chosen, batches, added } = presented;
  return {
    ...presented,
    draft,
    faults,
    errors: Object.fromEntries(faults.map(({ field, message }) => [field, message])),
    stays: batches.map((batch) => ({
      ...batch,
      tests: batch.tests.filter(({ code }) => !added.includes(code)),
    })),
    adds: batches.map((batch) => ({
      ...batch,
      tests: batch.tests.filter(({ code }) => added.includes(code)),
    })),
    questions: askedBy(chosen).map((asked) => presentQuestion(asked, draft)),
    needingDetails: needingDetails(chosen),
    collection: presentCollection(visit, draft, needs),
    mayCollect: visit.changed === undefined && needsSamples(chosen),
    changedBy: await othersSince(visit, draft, needs),
    maxClinicalDetailsLength,
    maxAnswerLength,
  };
}

function presentQuestion({ question, tests, isRequired }: AskedQuestion, { answers }: Draft) {
  const typed = answers[question.id] ?? '';
  const [year, month, day] = question.kind === 'date' ? typed.split('-') : [];
  return {
    ...question,
    isRequired,
    askedFor: tests.map(({ name, abbreviation }) => abbreviation ?? name).join(', '),
    typed,
    date: { year, month, day },
  };
}

/** What the fields of a collection now hold before anything is typed: the author, today, this minute. */
function presentCollection(
  { context }: ChoosingVisit,
  { collection }: Draft,
  { clock, timeZone }: Pick<RepeatNeeds, 'clock' | 'timeZone'>,
) {
  if (collection.when === 'now') return collection;
  const author = fullName(context.request.author.name);
  return { ...collectionNow(clock.now(), author, timeZone), when: collection.when };
}

/** Who changed the request since this change was begun: `Hill, Ada (Dr) on 2 Mar 2026 at 09:31`. */
async function othersSince(
  { changed }: ChoosingVisit,
  { notice }: Draft,
  { testRequests, write }: Shown['needs'],
): Promise<string[]> {
  const since = notice?.rebasedFrom;
  if (changed === undefined || since === undefined) return [];
  const submissions = await testRequests.submissionsTo(changed.guid);
  return submissions
    .filter(({ requestVersion }) => requestVersion > since)
    .map(({ author, at }) => `${fullName(author.name)} on ${write(at)}`);
}
