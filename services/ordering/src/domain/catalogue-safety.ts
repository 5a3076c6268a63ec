import { type AppliesTo, isFor } from './applies-to.ts';
import type { Catalogue, Imaging, Orderable, Question } from './catalogue.ts';

type Topic = NonNullable<Question['topic']>;

/** Returns what must be known before an examination. */
function topicsOf({ modality, hasSides, hasContrast }: Imaging): Topic[] {
  return [
    // IR(ME)R 2017, regulation 11: an enquiry before an exposure of people who may be pregnant.
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

/** The years in which every enquiry about a pregnancy is made, both inclusive. */
const pregnancyAges = { ageFrom: 12, ageTo: 55 } as const satisfies AppliesTo;

/**
 * Returns the faults of a valid catalogue that may harm a patient: examinations without clinical details or
 * without a question that they need. Each is a line that names the test.
 */
export function safetyFaults({ orderables, questions }: Catalogue): string[] {
  return [
    ...[...orderables.values()].flatMap(imagingFaults),
    ...[...questions.values()].flatMap(questionFaults),
  ];
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
  const { id, topic, perTest } = question;
  const isAskedOf = (age: number) => isFor(question, { gender: 'female', age });
  const isNarrow = !isAskedOf(pregnancyAges.ageFrom) || !isAskedOf(pregnancyAges.ageTo);
  return [
    ...(topic === 'pregnancy' && isNarrow
      ? [`question ${id} must be asked of women from 12 to 55 years`]
      : []),
    ...(topic === 'side' && perTest !== true ? [`question ${id} must be asked per test`] : []),
  ];
}
