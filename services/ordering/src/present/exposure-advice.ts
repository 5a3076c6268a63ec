import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Catalogue, LabLocation, Orderable } from '../domain/catalogue.ts';
import { isExposure, isPregnancyPossible } from '../domain/catalogue-safety.ts';
import { isLive } from '../domain/lifecycle.ts';
import { listed } from '../domain/panels.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';

/** The advice about the examinations at one location for a patient who is or might be pregnant. */
export type ExposureAdvice = Pick<LabLocation, 'name' | 'telephone'> & {
  readonly tests: string;
  readonly isOne: boolean;
};

/** Returns the advice about tests that use ionising radiation (IR(ME)R 2017, regulation 11). */
export function adviseOnExposure(tests: readonly Orderable[]): ExposureAdvice[] {
  const byLocation = Map.groupBy(tests.filter(isExposure), ({ location }) => location);
  return [...byLocation].map(([{ name, telephone }, own]) => ({
    name,
    ...withoutUndefined({ telephone }),
    tests: listed(own.map((test) => test.name)),
    isOne: own.length === 1,
  }));
}

/** Returns the advice about a submitted request; none if the answer about a pregnancy is No or absent. */
export function adviseOnRequest({ batches, answers }: TestRequest, catalogue: Catalogue): ExposureAdvice[] {
  const isPossible = answers.some(({ question, answer }) =>
    isPregnancyPossible(catalogue.questions.get(question) ?? {}, answer),
  );
  const tests = batches.flatMap((batch) => batch.tests.filter(isLive));
  return isPossible
    ? adviseOnExposure(tests.flatMap((test) => catalogue.orderables.get(codeOf(test)) ?? []))
    : [];
}
