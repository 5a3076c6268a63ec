import { readFileSync } from 'node:fs';
import type { Answered, Outcome, Sent, Step } from './journal.ts';

/** The clients' records after a load has ended. */
export type Ledger = {
  readonly answers: readonly Answered[];
  /** The number of requests that were sent and have no recorded result. */
  readonly unanswered: number;
  /** Returns the number of attempts of a step with this outcome. */
  count(step: Step, outcome?: Outcome, status?: number): number;
  /** Launches with a launch URL: answered 200, or 409 after an attempt without a conclusive answer. */
  readonly issued: ReadonlySet<string>;
  /** Launches whose token was redeemed: answered 200, or 410 after an attempt without a conclusive answer. */
  readonly redeemed: ReadonlySet<string>;
  /** GUID and version of each order, and of each amendment, whose submission was confirmed to the user. */
  readonly submitted: ReadonlySet<string>;
  /** GUID and version of each order whose document the user has seen. */
  readonly shown: ReadonlySet<string>;
  /** Launches with more than one 200 for the same identifier, or for the same token. */
  readonly doubled: readonly string[];
  /** Incorrect answers, and requests without a conclusive answer. */
  readonly faults: readonly string[];
};

/** Reads a journal of the load. */
export function readLedger(path: string): Ledger {
  const entries = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Sent | Answered => JSON.parse(line));
  const answers = entries.filter((entry) => 'outcome' in entry);
  const rightOf = (...steps: Step[]) =>
    answers.filter(({ step, outcome }) => steps.includes(step) && outcome === 'ok');
  const launchesOf = (...steps: Step[]) => new Set(rightOf(...steps).map(({ launch }) => launch));
  const ordersOf = (...steps: Step[]) => new Set(rightOf(...steps).flatMap(({ order }) => order ?? []));
  return {
    answers,
    unanswered: entries.length - 2 * answers.length,
    count: (step, outcome, status) =>
      answers.filter(
        (answer) =>
          answer.step === step &&
          (outcome === undefined || answer.outcome === outcome) &&
          (status === undefined || answer.status === status),
      ).length,
    issued: launchesOf('issue', 'issue amendment'),
    redeemed: launchesOf('redeem'),
    submitted: ordersOf('submit', 'record'),
    shown: ordersOf('document'),
    doubled: [
      ...repeated(answers.filter(({ step, status }) => step.startsWith('issue') && status === 200)),
      ...repeated(answers.filter(({ step, status }) => step.startsWith('redeem') && status === 200)),
    ],
    faults: [...wrongAnswers(answers), ...openEnds(answers)],
  };
}

function repeated(answers: readonly Answered[]): string[] {
  return [...Map.groupBy(answers, ({ launch }) => launch)]
    .filter(([, its]) => its.length > 1)
    .map(([launch]) => launch);
}

function wrongAnswers(answers: readonly Answered[]): string[] {
  return answers
    .filter(({ outcome }) => outcome === 'wrong')
    .map(({ step, status, launch, correlationId }) => `${step} ${launch}: ${status} (${correlationId})`);
}

/** Returns each step of a launch that never received a conclusive answer. */
function openEnds(answers: readonly Answered[]): string[] {
  return [...Map.groupBy(answers, ({ step, launch }) => `${step} ${launch}`)]
    .filter(([, its]) => its.every(({ outcome }) => outcome === 'lost' || outcome === 'unavailable'))
    .map(([name]) => `${name}: never answered`);
}
