import { expect } from '@jest/globals';
import type { Books } from './books.ts';
import type { Answered, Step } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { Callback } from './receiver.ts';

const issuedType = 'launch.url.issued.v1';
const redeemedType = 'launch.token.redeemed.v1';

/** Compares the clients' records with the platform's stored data: nothing is lost, duplicated or wrong. */
export function expectBalance(ledger: Ledger, books: Books): void {
  expect(ledger.faults).toEqual([]);
  expect(ledger.unanswered).toBe(0);
  expect(ledger.doubled).toEqual([]);
  expect(ledger.issued.size).toBeGreaterThan(0);

  expect(books.arrived).toBe(books.committed);
  // The clients retried until they knew each result, so the counts are equal, except for amendments. Only
  // amendments may reuse an identifier, so the retry of a lost answer may create a second launch URL.
  expect(books.audited(issuedType)).toBeGreaterThanOrEqual(ledger.issued.size);
  expect(books.audited(issuedType)).toBeLessThanOrEqual(
    ledger.issued.size + ledger.count('issue amendment', 'lost'),
  );
  expect(books.audited(redeemedType)).toBe(ledger.redeemed.size);
  const issues = answered(ledger, 'issue', 'issue amendment');
  expect(missing(books.correlationIds(issuedType), issues)).toEqual([]);
  expect(missing(books.correlationIds(redeemedType), answered(ledger, 'redeem'))).toEqual([]);

  const submitted = [...ledger.submitted].toSorted();
  expect(submitted).toHaveLength(ledger.count('submit', 'ok') + ledger.count('record', 'ok'));
  expect(books.submissions.toSorted()).toEqual(submitted);
  expect(books.documents.toSorted()).toEqual(submitted);
  expect([...ledger.shown].toSorted()).toEqual(submitted);
  expect(books.audited('order.submitted.v1')).toBe(submitted.length);
  expect(books.audited('order.document.rendered.v1')).toBe(submitted.length);
  expectDelivered(books);
}

/**
 * Expects that the PMS accepted the newest document of each order, and only documents that exist. Every
 * delivery of a document has the same id, and no document arrives after a newer document of its order.
 */
function expectDelivered({ documents, delivered, callbacks, audited }: Books): void {
  const newest = documents.filter((state) => !documents.includes(successorOf(state))).toSorted();
  expect(delivered.toSorted()).toEqual(newest);
  // The number of events is not exact, because a process that is killed after a delivery stores no event.
  expect(audited('order.document.delivered.v1')).toBeGreaterThanOrEqual(newest.length);
  if (callbacks === undefined) return;
  const came = [...Map.groupBy(callbacks, ({ state }) => state)];
  const states = came.map(([state]) => state);
  expect(newest.filter((state) => !states.includes(state))).toEqual([]);
  expect(states.filter((state) => !documents.includes(state))).toEqual([]);
  expect(came.filter(([, its]) => new Set(its.map(({ id }) => id)).size !== 1)).toEqual([]);
  const isLate = ({ state }: Callback, at: number) =>
    callbacks.slice(0, at).some((earlier) => earlier.state === successorOf(state));
  expect(callbacks.filter(isLate)).toEqual([]);
  expect(audited('order.document.delivered.v1')).toBeLessThanOrEqual(came.length);
}

/** Returns the same order with the next version. */
const successorOf = (state: string) => state.replace(/\d+$/, (version) => String(Number(version) + 1));

/**
 * Expects at least one event for each 410 that a client received. A lost answer may also have been a 410, so
 * one more event is allowed for each lost answer. Does not apply when Redis is killed: a refusal is answered
 * even if its event cannot be stored.
 */
export function expectRefusalsAudited(ledger: Ledger, books: Books): void {
  const reported = ledger.count('redeem', 'ok', 410) + ledger.count('redeem again', 'ok');
  const unknown = ledger.count('redeem', 'lost') + ledger.count('redeem again', 'lost');
  const audited = books.audited('launch.token.refused.v1', 410);
  expect(reported).toBeGreaterThan(0);
  expect(audited).toBeGreaterThanOrEqual(reported);
  expect(audited).toBeLessThanOrEqual(reported + unknown);
}

const answered = ({ answers }: Ledger, ...wanted: Step[]) =>
  answers.filter(({ step, status }) => wanted.includes(step) && status === 200);

/** Returns the answers that do not have exactly one event with their correlation id. */
function missing(correlationIds: readonly string[], answers: readonly Answered[]): Answered[] {
  const counts = Map.groupBy(correlationIds, (id) => id);
  return answers.filter(({ correlationId = '' }) => counts.get(correlationId)?.length !== 1);
}

/** Prints the counts of the clients and of the platform in one line. */
export function reportBalance(test: string, ledger: Ledger, books: Books): void {
  const { answers, issued, redeemed } = ledger;
  const of = (outcome: Answered['outcome']) => answers.filter((answer) => answer.outcome === outcome).length;
  const refused = ledger.count('issue again', 'ok') + ledger.count('redeem again', 'ok');
  printLine(
    `${test}: ${answers.length} requests (${of('unavailable')} answered 503, ${of('lost')} lost, ${of('wrong')} wrong); ` +
      `issued ${issued.size} = redeemed ${redeemed.size} + expired ${issued.size - redeemed.size}; ` +
      `repetitions refused ${refused}; events committed ${books.committed} = audited ${books.arrived}; ` +
      `orders ${ledger.count('submit', 'ok')} and amendments ${ledger.count('record', 'ok')} ` +
      `= stored ${books.submissions.length} = documents ${books.documents.length}; ` +
      `orders delivered ${books.delivered.length} by ${books.callbacks?.length ?? 'unknown'} callbacks`,
  );
}

/** Prints one line on the terminal. */
export function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}
