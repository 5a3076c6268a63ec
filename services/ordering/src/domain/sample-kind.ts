import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Container, Orderable } from './catalogue.ts';
import { answerKey } from './questions.ts';
import type { Answer, RequestedSample } from './test-request.ts';

/**
 * The container, site and timing of a sample. Tests share a sample only if all three are equal: one swab is
 * never of two sites.
 */
export type SampleKind = {
  readonly container: Container;
  /** Absent if it does not matter, as for blood. */
  readonly site?: string;
  readonly timing?: string;
  /** The key of the answer that is the site (`answerKey`). */
  readonly siteFrom?: string;
};

/** The answers to the questions of tests, by key. */
export type SiteAnswers = Readonly<Record<string, string>>;

/** Returns the answers of a request by key, without empty ones. */
export const siteAnswersOf = (answers: readonly Pick<Answer, 'question' | 'answer'>[]): SiteAnswers =>
  Object.fromEntries(
    answers.flatMap(({ question, answer }) => (answer.trim() === '' ? [] : [[question, answer.trim()]])),
  );

/** Returns the samples that a test needs; none for imaging. A site that is not answered yet is absent. */
export function sampleKindsOf(test: Orderable, answers: SiteAnswers): SampleKind[] {
  return test.samples.map(({ container, site: fixed, timing, siteQuestion }) => {
    const siteFrom = siteQuestion && answerKey(siteQuestion, test);
    const site = fixed ?? (siteFrom === undefined ? undefined : answers[siteFrom]?.trim());
    return {
      container,
      ...(site ? { site } : {}),
      ...withoutUndefined({ timing, siteFrom }),
    };
  });
}

/** Returns whether two kinds can share a sample. If the sites are not known yet, they may differ. */
export function isSameKind(one: SampleKind, other: SampleKind): boolean {
  const isSameSite = one.site === other.site && (one.site !== undefined || one.siteFrom === other.siteFrom);
  return one.container.id === other.container.id && isSameSite && one.timing === other.timing;
}

/** Returns whether a sample of a request is still to be collected and is of this kind. */
export const isOpenFor = (sample: RequestedSample, { container, site, timing }: SampleKind): boolean =>
  sample.completedAt === undefined &&
  sample.container === container.id &&
  sample.site === site &&
  sample.timing === timing;

/** Returns the description of a sample in the order document: `Viral swab (green top), Throat`. */
export const describeKind = ({ container: { name, closure }, timing, site }: SampleKind) =>
  [`${name} (${closure})`, timing, site].filter((part) => part !== undefined).join(', ');
