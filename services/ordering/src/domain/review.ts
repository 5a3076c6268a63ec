import { localDay } from '@clinical-launch/contracts';
import type { Orderable } from './catalogue.ts';
import { type Collected, readCollectionEntry } from './collection-entry.ts';
import { cleanText, type Draft, maxClinicalDetailsLength } from './draft.ts';
import { listed } from './panels.ts';
import { type AskedQuestion, askedBy, maxAnswerLength, readAnswer } from './questions.ts';
import type { Repeat } from './repeats.ts';
import type { Answer, RequestDetails } from './test-request.ts';

export type ReviewBasis = {
  readonly draft: Draft;
  /** The tests of the catalogue that the request will have. */
  readonly tests: readonly Orderable[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The added tests that were requested within their minimum interval. */
  readonly repeats: readonly Repeat[];
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name of the practice's zone */
  readonly timeZone: string;
};

/** An error, in words for its reader; `field` is the id of the element to correct. */
export type ReviewFault = { readonly field: string; readonly message: string };

/** The values that are stored with the tests. */
export type Decision = {
  readonly details: RequestDetails;
  /** Why a test is ordered again, by its code. */
  readonly repeatReasons: Readonly<Record<string, string>>;
  /** When and by whom all samples of a new order were taken; absent if they are taken later. */
  readonly collected?: Collected;
};

export type ReviewOutcome = { readonly decision: Decision } | { readonly faults: readonly ReviewFault[] };

/**
 * Decides whether a draft may be submitted, and what is then stored. Reports all errors at once, in the order
 * of the page.
 */
export function decideReview(basis: ReviewBasis): ReviewOutcome {
  const answers = readAnswers(basis);
  const reasons = readReasons(basis);
  const collection = readCollection(basis);
  const clinicalDetails = cleanText(basis.draft.clinicalDetails);
  const details = { clinicalDetails, priority: basis.draft.priority, answers: answers.kept };
  const faults = [
    ...unchangedFaults(basis, details),
    ...reasons.faults,
    ...answers.faults,
    ...detailsFaults(basis, clinicalDetails),
    ...('faults' in collection ? collection.faults : []),
  ];
  if (faults.length > 0 || 'faults' in collection) return { faults };
  return { decision: { details, repeatReasons: reasons.kept, ...collection } };
}

/** A change must change something: a test, or the details for the laboratory. */
function unchangedFaults(
  { draft: { base }, added, removed }: ReviewBasis,
  { clinicalDetails, priority, answers }: RequestDetails,
): ReviewFault[] {
  if (base === undefined) return [];
  const isChanged =
    added.length + removed.length > 0 ||
    clinicalDetails !== base.clinicalDetails ||
    priority !== base.priority ||
    answers.some(({ question, answer }) => base.answers[question] !== answer) ||
    answers.length !== Object.keys(base.answers).length;
  return isChanged
    ? []
    : [{ field: 'tests', message: 'Nothing has been changed yet. Add or remove a test, or close this page' }];
}

type Read<Kept> = { readonly kept: Kept; readonly faults: readonly ReviewFault[] };

/** Drops answers to questions that no test asks any more. */
function readAnswers({ draft, tests, now, timeZone }: ReviewBasis): Read<Answer[]> {
  const today = localDay(now, timeZone);
  const kept: Answer[] = [];
  const faults: ReviewFault[] = [];
  for (const asked of askedBy(tests)) {
    const { id, text } = asked.question;
    const reading = readAnswer(asked, draft.answers[id] ?? '', today);
    if ('message' in reading) faults.push({ field: answerField(asked), message: reading.message });
    else if (reading.answer !== '') kept.push({ question: id, text, answer: reading.answer });
  }
  return { kept, faults };
}

const answerField = ({ question: { id, kind } }: AskedQuestion) =>
  kind === 'date' ? `answer-${id}-day` : `answer-${id}`;

function readReasons({ draft, repeats }: ReviewBasis): Read<Record<string, string>> {
  const kept: Record<string, string> = {};
  const faults: ReviewFault[] = [];
  for (const {
    test: { code, name },
  } of repeats) {
    const reason = cleanText(draft.repeatReasons[code] ?? '').replace(/\s+/g, ' ');
    const field = `reason-${code}`;
    if (reason === '') faults.push({ field, message: `Enter why ${name} is ordered again, or remove it` });
    else if (reason.length > maxAnswerLength) {
      faults.push({
        field,
        message: `Why ${name} is ordered again must be ${maxAnswerLength} characters or fewer`,
      });
    } else kept[code] = reason;
  }
  return { kept, faults };
}

function detailsFaults({ tests }: ReviewBasis, clinicalDetails: string): ReviewFault[] {
  const field = 'details';
  if (clinicalDetails.length > maxClinicalDetailsLength) {
    return [{ field, message: `Clinical details must be ${maxClinicalDetailsLength} characters or fewer` }];
  }
  const needing = needingDetails(tests);
  if (clinicalDetails !== '' || needing.length === 0) return [];
  return [{ field, message: `Enter clinical details. ${listed(needing)} cannot be done without them` }];
}

/** Returns the names of the tests that the laboratory refuses without clinical details. */
export const needingDetails = (tests: readonly Orderable[]) =>
  tests.filter(({ needsClinicalDetails }) => needsClinicalDetails).map(({ name }) => name);

/** Reads the collection, only for a new order for which a sample is taken from the patient. */
function readCollection({
  draft: { collection, base },
  tests,
  now,
  timeZone,
}: ReviewBasis): { readonly collected?: Collected } | { readonly faults: readonly ReviewFault[] } {
  if (collection.when === 'later' || base !== undefined || !needsSamples(tests)) return {};
  const reading = readCollectionEntry(collection, { now, timeZone });
  if ('collected' in reading) return { collected: reading.collected };
  const fields = { by: 'collected-by', date: 'collected-day', time: 'collected-time' };
  return { faults: reading.faults.map(({ field, message }) => ({ field: fields[field], message })) };
}

/** Returns whether these tests need a sample from the patient. */
export const needsSamples = (tests: readonly Orderable[]) =>
  tests.some(({ container }) => container !== undefined);
