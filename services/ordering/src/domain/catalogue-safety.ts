import { type AppliesTo, isFor } from './applies-to.ts';
import type { Catalogue, Elsewhere, Imaging, Orderable, Question } from './catalogue.ts';
import { isNamedBy } from './test-search.ts';

type Topic = NonNullable<Question['topic']>;

/** Returns the topics about which the form must ask before an examination. */
function topicsOf({ modality, hasSides, hasContrast }: Imaging): Topic[] {
  return [
    // IR(ME)R 2017, regulation 11, requires an enquiry before the exposure of a person who may be pregnant.
    ...(isIonising[modality] ? (['pregnancy'] as const) : []),
    ...(modality === 'mri' ? (['mri-safety'] as const) : []),
    ...(hasSides === true ? (['side'] as const) : []),
    ...(hasContrast === true ? (['contrast-allergy', 'kidney-function'] as const) : []),
  ];
}

const isIonising: Readonly<Record<Imaging['modality'], boolean>> = {
  'x-ray': true,
  ct: true,
  dxa: true,
  mri: false,
  ultrasound: false,
};

/** Returns whether a test exposes the patient to ionising radiation. */
export const isExposure = ({ imaging }: Pick<Orderable, 'imaging'>) =>
  imaging !== undefined && isIonising[imaging.modality];

/** Every pregnancy question must be asked of women of these ages, both inclusive. */
const pregnancyAges = { ageFrom: 12, ageTo: 55 } as const satisfies AppliesTo;

/** The answers to a pregnancy enquiry. After any answer except `No`, the practice must telephone first. */
const pregnancyAnswers = ['Yes', 'No', 'Not known'];

/** Returns whether, after this answer, the practice must telephone the location before the exposure. */
export const isPregnancyPossible = ({ topic }: Pick<Question, 'topic'>, answer: string) =>
  topic === 'pregnancy' && answer !== 'No';

/**
 * Returns the errors in a valid catalogue that may harm a patient. Examples are an examination without a
 * required question, and two questions whose answers can contradict each other. Each error names the test or
 * the question.
 */
export function safetyFaults({ orderables, questions, elsewhere }: Catalogue): string[] {
  return [
    ...[...orderables.values()].flatMap(imagingFaults),
    ...[...questions.values()].flatMap(questionFaults),
    ...topicFaults([...questions.values()]),
    ...elsewhereFaults(elsewhere, [...orderables.values()]),
  ];
}

/**
 * Returns the tests that name a sex and no age, and so are offered to children. `ageFrom: 0` states that a test
 * is for children, too.
 */
export const safetyWarnings = ({ orderables }: Pick<Catalogue, 'orderables'>): string[] =>
  [...orderables.values()].flatMap(({ code, appliesTo: { sex, ageFrom, ageTo } = {} }) =>
    sex !== undefined && ageFrom === undefined && ageTo === undefined
      ? [`${code} names a sex and no age. If it is also for children, state ageFrom 0`]
      : [],
  );

/** Checks that no name of an `elsewhere` entry is also the name of a test in the catalogue. */
function elsewhereFaults(elsewhere: readonly Elsewhere[], tests: readonly Orderable[]): string[] {
  return elsewhere.flatMap(({ name, synonyms = [] }) =>
    [name, ...synonyms].flatMap((each) =>
      tests
        .filter((test) => isNamedBy(test, each))
        .map(({ code }) => `elsewhere ${name} must not have the name ${each} of ${code}`),
    ),
  );
}

/**
 * Checks that each topic has at most one question, because two answers on one topic could contradict each
 * other.
 */
function topicFaults(questions: readonly Question[]): string[] {
  const byTopic = Map.groupBy(questions, ({ topic }) => topic);
  return [...byTopic].flatMap(([topic, own]) =>
    topic === undefined || own.length === 1
      ? []
      : [`questions ${own.map(({ id }) => id).join(' and ')} must be one: both have the topic ${topic}`],
  );
}

function imagingFaults({ code, imaging, location, needsClinicalDetails, asks }: Orderable): string[] {
  if (imaging === undefined) {
    return location.category === 'Imaging' ? [`${code} must state its imaging modality`] : [];
  }
  const required = asks.flatMap(({ question, isRequired }) => (isRequired ? (question.topic ?? []) : []));
  return [
    ...(needsClinicalDetails ? [] : [`${code} must need clinical details`]),
    ...topicsOf(imaging)
      .filter((topic) => !required.includes(topic))
      .map((topic) => `${code} must ask a required question on the topic ${topic}`),
  ];
}

function questionFaults(question: Question): string[] {
  const { id, topic, perTest, options = [] } = question;
  const isAskedOf = (age: number) => isFor(question, { gender: 'female', age });
  const isNarrow = !isAskedOf(pregnancyAges.ageFrom) || !isAskedOf(pregnancyAges.ageTo);
  return [
    ...(topic === 'pregnancy' && isNarrow
      ? [`question ${id} must be asked of women from 12 to 55 years`]
      : []),
    ...(topic === 'pregnancy' && options.join() !== pregnancyAnswers.join()
      ? [`question ${id} must offer ${pregnancyAnswers.join(', ')}, in this order`]
      : []),
    ...(topic === 'side' && perTest !== true ? [`question ${id} must be asked per test`] : []),
  ];
}
