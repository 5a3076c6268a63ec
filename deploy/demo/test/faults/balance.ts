import { expect } from '@jest/globals';
import type { Books } from './books.ts';
import type { Answered, Step } from './journal.ts';
import type { Ledger } from './ledger.ts';

const issuedType = 'launch.url.issued.v1';
const redeemedType = 'launch.token.redeemed.v1';

/** Compares what the clients know with what the platform stored: nothing lost, nothing twice, nothing wrong. */
export function expectBalance(ledger: Ledger, books: Books): void {
  expect(ledger.faults).toEqual([]);
  expect(ledger.unanswered).toBe(0);
  expect(ledger.doubled).toEqual([]);
  expect(ledger.issued.size).toBeGreaterThan(0);

  expect(books.arrived).toBe(books.committed);
  // The clients came again until they knew what had become of each, so it is an equation and not only
  // answered <= audited <= answered + unknown.
  expect(books.audited(issuedType)).toBe(ledger.issued.size);
  expect(books.audited(redeemedType)).toBe(ledger.redeemed.size);
  expect(missing(books.correlationIds(issuedType), answered(ledger, 'issue'))).toEqual([]);
  expect(missing(books.correlationIds(redeemedType), answered(ledger, 'redeem'))).toEqual([]);

  const submitted = [...ledger.submitted].toSorted();
  expect(submitted).toHaveLength(ledger.count('submit', 'ok'));
  expect(books.requests.toSorted()).toEqual(submitted);
  expect(books.documents.toSorted()).toEqual(submitted);
  expect([...ledger.shown].toSorted()).toEqual(submitted);
  expect(books.audited('order.submitted.v1')).toBe(submitted.length);
  expect(books.audited('order.document.rendered.v1')).toBe(submitted.length);
}

/**
 * Every 410 has its event, and no more events are there than answers that may have been one. Not so when Redis goes
 * between the answer and the event: a refusal is refused all the same.
 */
export function expectRefusalsAudited(ledger: Ledger, books: Books): void {
  const told = ledger.count('redeem', 'ok', 410) + ledger.count('redeem again', 'ok');
  const unknown = ledger.count('redeem', 'lost') + ledger.count('redeem again', 'lost');
  const audited = books.audited('launch.token.refused.v1', 410);
  expect(told).toBeGreaterThan(0);
  expect(audited).toBeGreaterThanOrEqual(told);
  expect(audited).toBeLessThanOrEqual(told + unknown);
}

const answered = ({ answers }: Ledger, wanted: Step) =>
  answers.filter(({ step, status }) => step === wanted && status === 200);

/** Answers whose event is not among these exactly once. */
function missing(correlationIds: readonly string[], answers: readonly Answered[]): Answered[] {
  const counts = Map.groupBy(correlationIds, (id) => id);
  return answers.filter(({ correlationId = '' }) => counts.get(correlationId)?.length !== 1);
}

/** The counts in one line. */
export function tell(test: string, ledger: Ledger, books: Books): void {
  const { answers, issued, redeemed, submitted } = ledger;
  const of = (outcome: Answered['outcome']) => answers.filter((answer) => answer.outcome === outcome).length;
  const refused = ledger.count('issue again', 'ok') + ledger.count('redeem again', 'ok');
  say(
    `${test}: ${answers.length} requests (${of('unavailable')} answered 503, ${of('lost')} lost, ${of('wrong')} wrong); ` +
      `issued ${issued.size} = redeemed ${redeemed.size} + expired ${issued.size - redeemed.size}; ` +
      `repetitions refused ${refused}; events committed ${books.committed} = audited ${books.arrived}; ` +
      `orders submitted ${submitted.size} = stored ${books.requests.length} = documents ${books.documents.length}`,
  );
}

/** One line on the terminal. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
