import { localDay } from '@clinical-launch/contracts/time';
import { isFor, type PatientTraits } from './applies-to.ts';
import type { Orderable } from './catalogue.ts';
import { type Collected, readCollectionEntry } from './collection-entry.ts';
import {
  choiceFor,
  cleanText,
  type Draft,
  entryOf,
  maxClinicalDetailsLength,
  noReason,
  type RepeatReason,
} from './draft.ts';
import { listed } from './panels.ts';
import { type AskedQuestion, askedBy, maxAnswerLength, readAnswer } from './questions.ts';
import { needsReason, type Repeat } from './repeats.ts';
import type { Answer, RequestDetails } from './test-request.ts';

export type ReviewBasis = {
  readonly draft: Draft;
  /** The tests that the request will contain, without tests that have left the catalogue. */
  readonly tests: readonly Orderable[];
  readonly added: readonly string[];
  readonly addedTests: readonly Orderable[];
  readonly removed: readonly string[];
  readonly patient: PatientTraits;
  /** The added tests that were requested before. */
  readonly repeats: readonly Repeat[];
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name of the practice's zone */
  readonly timeZone: string;
};

/** An error, worded for the user. `field` is the id of the element that the user must correct. */
export type ReviewFault = { readonly field: string; readonly message: string };

/** The values that a submission stores with the tests. */
export type Decision = {
  readonly details: RequestDetails;
  readonly repeatReasons: Readonly<Record<string, string>>;
  /** The reasons for requesting tests that do not apply to the patient, by the code of the test. */
  readonly overrideReasons: Readonly<Record<string, string>>;
  /** Who collected samples of a new order now, and when; absent if no samples are collected now. */
  readonly collected?: Collected;
  /** The reason for a cancellation; absent for any other submission. */
  readonly cancelReason?: string;
};

export type ReviewOutcome = { readonly decision: Decision } | { readonly faults: readonly ReviewFault[] };

/** Validates a draft. Returns the values to store, or all errors in the order of the page. */
export function decideReview(basis: ReviewBasis): ReviewOutcome {
  const answers = readAnswers(basis);
  const overrides = readOverrides(basis);
  const reasons = readReasons(basis);
  const collection = readCollection(basis);
  const cancelReason = readCancelReason(basis);
  const clinicalDetails = cleanText(basis.draft.clinicalDetails);
  const details = { clinicalDetails, priority: basis.draft.priority, answers: answers.values };
  const faults = [
    ...unchangedFaults(basis, details),
    ...cancelReason.faults,
    ...overrides.faults,
    ...reasons.faults,
    ...answers.faults,
    ...detailsFaults(basis, clinicalDetails),
    ...('faults' in collection ? collection.faults : []),
  ];
  if (faults.length > 0 || 'faults' in collection) return { faults };
  const given = { repeatReasons: reasons.values, overrideReasons: overrides.values };
  return { decision: { details, ...given, ...collection, ...cancelReason.values } };
}

const testsField = 'tests';

/** Checks that a change adds or removes a test, or changes the details for the laboratory. */
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
    : [
        {
          field: testsField,
          message: 'Nothing has been changed yet. Add or remove a test, or close this page',
        },
      ];
}

/** Returns the ids of the fields with an error. Ignores the error that nothing was changed. */
export const missingFields = (faults: readonly ReviewFault[]) =>
  faults.map(({ field }) => field).filter((field) => field !== testsField);

type Read<Value> = { readonly values: Value; readonly faults: readonly ReviewFault[] };

/** Reads the answers. Omits answers to questions that no test asks any more. */
function readAnswers({ draft, tests, patient, now, timeZone }: ReviewBasis): Read<Answer[]> {
  const today = localDay(now, timeZone);
  const values: Answer[] = [];
  const faults: ReviewFault[] = [];
  for (const asked of askedBy(tests, patient)) {
    const { key, text } = asked;
    const reading = readAnswer(asked, draft.answers[key] ?? '', today);
    if ('message' in reading) faults.push({ field: answerField(asked), message: reading.message });
    else if (reading.answer !== '') values.push({ question: key, text, answer: reading.answer });
  }
  return { values, faults };
}

/** Returns the id of the first field of an answer. */
const answerField = ({ key, question: { kind } }: AskedQuestion) =>
  kind === 'date' ? `${answerId(key)}-day` : answerId(key);

/** Returns the id of the element that contains the fields of an answer. */
export const answerId = (key: string) => `answer-${key.replace(':', '-')}`;

/** Returns the added tests that do not apply to a patient. Each test needs a reason. */
export const inapplicableTests = (patient: PatientTraits, added: readonly Orderable[]) =>
  added.filter((test) => !isFor(test, patient));

function readOverrides({ draft, addedTests, patient }: ReviewBasis): Read<Record<string, string>> {
  const values: Record<string, string> = {};
  const faults: ReviewFault[] = [];
  for (const { code, name } of inapplicableTests(patient, addedTests)) {
    const reason = oneLine(draft.overrideReasons[code] ?? '');
    const field = `override-${code}`;
    if (reason === '') faults.push({ field, message: `Give a reason for requesting ${name}, or remove it` });
    else if (reason.length > maxAnswerLength) {
      const message = `Reason for requesting ${name} must be ${maxAnswerLength} characters or fewer`;
      faults.push({ field, message });
    } else values[code] = reason;
  }
  return { values, faults };
}

const oneLine = (typed: string) => cleanText(typed).replace(/\s+/g, ' ');

/** The reasons for a repeat that the page offers. */
export const repeatReasonChoices = [
  'Monitoring of treatment or of a known condition',
  'Abnormal or unexpected result',
  'New or changed symptoms',
  'Sample lost or unsuitable',
  'Advised by a specialist',
];

/** Returns a reason that consists of one of `choices`, typed text, or both; `''` if there is neither. */
const writtenReason = ({ choice, typed }: RepeatReason, choices: readonly string[]) =>
  [...choices.filter((each) => each === choice), oneLine(typed)].filter((part) => part !== '').join(': ');

/** The reasons for a cancellation that the page offers. */
export const cancelReasonChoices = [
  'Requested for the wrong patient',
  'Requested twice',
  'No longer needed',
  'The patient declined',
];

/** Returns whether a change leaves no test, and so cancels the request. */
export const cancels = ({ chosen, base }: Pick<Draft, 'chosen' | 'base'>) =>
  base !== undefined && base.chosen.length > 0 && chosen.length === 0;

/** Reads the reason for a cancellation. Any other change has no such reason. */
function readCancelReason({ draft }: ReviewBasis): Read<Pick<Decision, 'cancelReason'>> {
  if (!cancels(draft)) return { values: {}, faults: [] };
  const cancelReason = writtenReason(draft.cancelReason ?? noReason, cancelReasonChoices);
  const message =
    cancelReason === ''
      ? 'Select or enter a reason for cancelling this request'
      : `Reason for cancelling must be ${maxAnswerLength} characters or fewer`;
  const isFaulty = cancelReason === '' || cancelReason.length > maxAnswerLength;
  return { values: { cancelReason }, faults: isFaulty ? [{ field: 'cancel-reason', message }] : [] };
}

/** Reads the reasons for repeats. A test without its own reason has the shared reason. */
function readReasons({ draft, repeats }: ReviewBasis): Read<Record<string, string>> {
  const shared = writtenReason(draft.repeatReason, repeatReasonChoices);
  const reasons = repeats.filter(needsReason).map(({ test: { code, name } }) => {
    const own = oneLine(draft.repeatReasons[code] ?? '');
    return { code, name, reason: own === '' ? shared : own };
  });
  const faults = [
    faultOfReasons(
      reasons.filter(({ reason }) => reason === ''),
      (names, them) => `Give a reason for repeating ${names}, or remove ${them}`,
    ),
    faultOfReasons(
      reasons.filter(({ reason }) => reason.length > maxAnswerLength),
      (names) => `Reason for repeating ${names} must be ${maxAnswerLength} characters or fewer`,
    ),
  ].flat();
  return { values: Object.fromEntries(reasons.map(({ code, reason }) => [code, reason])), faults };
}

function faultOfReasons(
  tests: readonly { readonly name: string }[],
  messageOf: (names: string, them: 'it' | 'them') => string,
): ReviewFault[] {
  if (tests.length === 0) return [];
  const names = listed(tests.map(({ name }) => name));
  return [{ field: 'repeat-reason', message: messageOf(names, tests.length === 1 ? 'it' : 'them') }];
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

/** If the samples of a new order are collected now, reads who collected them and when. */
function readCollection({
  draft: { collection, base },
  tests,
  now,
  timeZone,
}: ReviewBasis): { readonly collected?: Collected } | { readonly faults: readonly ReviewFault[] } {
  const entry = entryOf(collection);
  const collecting = tests.filter(
    (test) => needsSamples([test]) && choiceFor(collection, test.location.code) === 'now',
  );
  if (entry === undefined || base !== undefined || collecting.length === 0) return {};
  const timed = collecting.filter(hasTimedSamples).map(({ name }) => name);
  if (timed.length > 0) {
    const message = `Select Later. The samples of ${listed(timed)} are collected at different times`;
    return { faults: [{ field: 'collect', message }] };
  }
  const reading = readCollectionEntry(entry, { now, timeZone });
  if ('collected' in reading) return { collected: reading.collected };
  const fields = { by: 'collected-by', date: 'collected-day', time: 'collected-time' };
  return { faults: reading.faults.map(({ field, message }) => ({ field: fields[field], message })) };
}

const hasTimedSamples = ({ samples }: Orderable) => new Set(samples.map(({ timing }) => timing)).size > 1;

/** Returns whether these tests need a sample from the patient. */
export const needsSamples = (tests: readonly Orderable[]) => tests.some(({ samples }) => samples.length > 0);
