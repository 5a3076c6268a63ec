import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Container, Orderable } from './catalogue.ts';
import { answerKey } from './questions.ts';
import type { Answer, RequestedSample } from './test-request.ts';

/**
 * The container, site and timing of a sample. Tests share a sample only if all three are equal, because one
 * swab cannot come from two sites.
 */
export type SampleKind = {
  readonly container: Container;
  /** The site on the body; absent if the site does not matter, as for blood. */
  readonly site?: string;
  readonly timing?: string;
  /** The key of the answer that names the site (`answerKey`). */
  readonly siteFrom?: string;
};

/** The answers to the questions of tests, by their keys. */
export type SiteAnswers = Readonly<Record<string, string>>;

/** Returns the answers of a request by their keys. Omits empty answers. */
export const siteAnswersOf = (answers: readonly Pick<Answer, 'question' | 'answer'>[]): SiteAnswers =>
  Object.fromEntries(
    answers.flatMap(({ question, answer }) => (answer.trim() === '' ? [] : [[question, answer.trim()]])),
  );

/** Returns the samples that a test needs; none for imaging. A site that is not known yet is absent. */
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

/**
 * Returns whether one sample can be of both kinds. Sites that are not known yet are equal only if the same
 * answer names both.
 */
export function isSameKind(one: SampleKind, other: SampleKind): boolean {
  const isSameSite = one.site === other.site && (one.site !== undefined || one.siteFrom === other.siteFrom);
  return one.container.id === other.container.id && isSameSite && one.timing === other.timing;
}

/** Returns whether a sample of a request is of this kind and is not collected yet. */
export const isOpenFor = (sample: RequestedSample, { container, site, timing }: SampleKind): boolean =>
  sample.completedAt === undefined &&
  sample.container === container.id &&
  sample.site === site &&
  sample.timing === timing;

/** Returns the description of a sample in the order document: `Viral swab (green top), Throat`. */
export const describeKind = ({ container: { name, closure }, timing, site }: SampleKind) =>
  [`${name} (${closure})`, timing, site].filter((part) => part !== undefined).join(', ');
