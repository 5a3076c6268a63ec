import type { PersonName } from '@clinical-launch/contracts/launch-context';
import type { WriteTime } from '@clinical-launch/contracts/time';
import { collectionNow } from '../domain/collection-entry.ts';
import { readTypedDate } from '../domain/days.ts';
import { choiceFor, type Draft, entryOf, maxClinicalDetailsLength } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { type AskedQuestion, askedBy, maxAnswerLength } from '../domain/questions.ts';
import { laboratoryKeyOf } from '../domain/request-search.ts';
import {
  answerId,
  cancelReasonChoices,
  needingDetails,
  needsSamples,
  type ReviewFault,
  repeatReasonChoices,
} from '../domain/review.ts';
import { type Chosen, presentChosen } from './chosen-model.ts';
import { adviseOnExposure } from './exposure-advice.ts';
import { presentRemains } from './result-model.ts';

type Step = { readonly author: { readonly name: PersonName }; readonly at: string };

type Review = Chosen & {
  readonly faults: readonly ReviewFault[];
  /** The ids of the fields that prevent the submission. */
  readonly missing: readonly string[];
  /** The person who collects the samples, unless the form names another person. */
  readonly author: PersonName;
  /** The submissions of other users since this change began. */
  readonly changedBy: readonly Step[];
  /** IANA name */
  readonly timeZone: string;
  readonly write: WriteTime;
};

/** Presents the review: tests, samples and questions, with the typed fields and their errors. */
export function presentReview(review: Review) {
  const { draft, faults, missing, patient, changed, changedBy, timeZone, write } = review;
  const presented = presentChosen(review);
  const { chosen, batches, added } = presented;
  // Without a typed collection, the fields have the author of the launch and the current time.
  const typed = entryOf(draft.collection) ?? collectionNow(review.now, fullName(review.author), timeZone);
  return {
    ...presented,
    draft,
    restoredFrom: draft.restoredFrom && write(draft.restoredFrom),
    faults,
    missing,
    errors: Object.fromEntries(faults.map(({ field, message }) => [field, message])),
    stays: batches.map((batch) => ({
      ...batch,
      tests: batch.tests.filter(({ code }) => !added.includes(code)),
    })),
    adds: batches.map((batch) => ({
      ...batch,
      tests: batch.tests.filter(({ code }) => added.includes(code)),
    })),
    questions: askedBy(chosen, patient).map((asked) => presentQuestion(asked, draft)),
    needingDetails: needingDetails(chosen),
    collection: { ...typed, when: draft.collection.when },
    collectors: batches
      .filter(({ samples }) => samples.length > 0)
      .map(({ location: { name, code } }) => ({
        name,
        key: laboratoryKeyOf(code),
        choice: choiceFor(draft.collection, code),
      })),
    mayCollect: changed === undefined && needsSamples(chosen),
    // Each text has the form `Hill, Ada (Dr) on 2 March 2026 at 09:31`.
    changedBy: changedBy.map(({ author, at }) => `${fullName(author.name)} on ${write(at)}`),
    maxClinicalDetailsLength,
    maxAnswerLength,
    repeatReasonChoices,
    cancelReasonChoices,
    ...(changed && { remains: presentRemains(changed, review.catalogue) }),
  };
}

function presentQuestion({ question, key, text, tests, isRequired }: AskedQuestion, { answers }: Draft) {
  const typed = answers[key] ?? '';
  return {
    ...question,
    id: answerId(key),
    name: `answer:${key}`,
    text,
    isRequired,
    askedFor: tests.map(({ name, abbreviation }) => abbreviation ?? name).join(', '),
    typed,
    date: readTypedDate(question.kind === 'date' ? typed : ''),
    // The stylesheet shows the advice while an answer other than No is chosen.
    advice: question.topic === 'pregnancy' ? adviseOnExposure(tests) : [],
  };
}
