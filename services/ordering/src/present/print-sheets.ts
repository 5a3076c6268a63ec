import type { PersonName } from '@clinical-launch/contracts/launch-context';
import type { WriteTime } from '@clinical-launch/contracts/time';
import type { Catalogue } from '../domain/catalogue.ts';
import { isExposure, isPregnancyPossible } from '../domain/catalogue-safety.ts';
import { isLive } from '../domain/lifecycle.ts';
import { fullName } from '../domain/person-name.ts';
import type { Printing } from '../domain/printing.ts';
import { answersFor } from '../domain/questions.ts';
import { type Answer, codeOf, type RequestedBatch, type TestRequest } from '../domain/test-request.ts';
import { createBarcode } from './barcode.ts';
import { presentPrintedIdentifiers } from './patient-banner.ts';
import { presentRequest } from './request-report.ts';
import { writtenAnswer } from './written-answer.ts';

type Presenting = { readonly catalogue: Catalogue; readonly write: WriteTime };

/**
 * Presents the request forms. There is a form for each laboratory with live tests, because each laboratory
 * receives the form with its samples.
 */
export async function presentForms(request: TestRequest, presenting: Presenting) {
  const report = presentRequest(request, presenting);
  const forms = report.batches
    .map((batch, index) => ({
      ...batch,
      tests: batch.tests.filter(({ isLive }) => isLive),
      ...presentAnswers(request, request.batches[index], presenting.catalogue),
    }))
    .filter(({ tests }) => tests.length > 0)
    .map(async (batch) => ({
      ...batch,
      barcode: await createBarcode(batch.orderReference, { heightMm: 10 }),
    }));
  const identifiers = presentPrintedIdentifiers(request.parties.patient);
  return { report: { ...report, identifiers }, sheets: await Promise.all(forms) };
}

/**
 * Presents the answers on one laboratory's form. `alerts` are the answers about a possible pregnancy before an
 * exposure to ionising radiation, which the form prints boldly above all else.
 */
function presentAnswers(request: TestRequest, batch: RequestedBatch | undefined, catalogue: Catalogue) {
  const own = answersFor(batch ?? { tests: [] }, request, catalogue);
  const isExposed = (batch?.tests ?? []).some(
    (test) => isLive(test) && isExposure(catalogue.orderables.get(codeOf(test)) ?? {}),
  );
  const isAlert = ({ question, answer }: Answer) =>
    isExposed && isPregnancyPossible(catalogue.questions.get(question) ?? {}, answer);
  return {
    alerts: own.filter(isAlert).map(writtenAnswer),
    answers: own.filter((each) => !isAlert(each)).map(writtenAnswer),
  };
}

/** Presents when and by whom a paper is printed now, and the earlier prints of the same paper. */
export function presentPrinting({ at, before }: Printing, by: PersonName, write: WriteTime) {
  return {
    at: write(at),
    by: fullName(by),
    ...(before && {
      before: { times: before.times, at: write(before.at), by: fullName(before.author.name) },
    }),
  };
}
