import type { Catalogue } from './catalogue.ts';
import { isLive } from './lifecycle.ts';
import { answerKey } from './questions.ts';
import { type Answer, codeOf, liveCodes, type RequestedBatch, type TestRequest } from './test-request.ts';

/**
 * Returns the answers to the questions that one laboratory's tests ask. If the catalogue has changed and no
 * test of the request asks a question any more, every laboratory receives the answer.
 */
export function answersFor(
  { tests }: Pick<RequestedBatch, 'tests'>,
  request: Pick<TestRequest, 'batches' | 'answers'>,
  catalogue: Pick<Catalogue, 'orderables'>,
): Answer[] {
  const own = keysAskedBy(tests.filter(isLive).map(codeOf), catalogue);
  const all = keysAskedBy(liveCodes(request), catalogue);
  return request.answers.filter(({ question }) => own.has(question) || !all.has(question));
}

function keysAskedBy(codes: readonly string[], { orderables }: Pick<Catalogue, 'orderables'>): Set<string> {
  const tests = codes.flatMap((code) => orderables.get(code) ?? []);
  return new Set(tests.flatMap((test) => test.asks.map(({ question }) => answerKey(question, test))));
}
