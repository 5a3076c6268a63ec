import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Edge } from './edge.ts';
import type { Journal, Outcome, Step } from './journal.ts';
import type { HttpAnswer, HttpRequest } from './send-request.ts';

export type Attempt = Omit<HttpRequest, 'url'> & {
  readonly step: Step;
  readonly launch: string;
  readonly path: string;
  /** The correct statuses for the first attempt. */
  readonly expected: readonly number[];
  /** Additional correct statuses for a repetition, after an attempt without a conclusive answer. */
  readonly expectedLater?: readonly number[];
  /**
   * When the launch token was requested (milliseconds since 1970). Ten seconds later the token has expired,
   * so 401 may be correct.
   */
  readonly tokenAskedAt?: number;
  /** Returns the GUID and version of the order in a correct answer. */
  readonly orderOf?: (answer: HttpAnswer) => string | undefined;
};

export type Caller = {
  /**
   * Repeats a request until its answer is conclusive, as a careful client does, and records every attempt.
   * Resolves with a correct answer. Resolves with undefined if the answer is incorrect, or if two minutes
   * pass without a conclusive answer.
   */
  readonly call: (attempt: Attempt) => Promise<TimedAnswer | undefined>;
};

export type TimedAnswer = HttpAnswer & {
  /** When the request was sent, in milliseconds since 1970. */
  readonly askedAt: number;
};

const launchTokenMs = 10_000;
const comesAgainForMs = 120_000;
const comesAgainAfterMs = 500;

/** Creates the caller of the load's requests. */
export function createCaller({ edge, journal }: { edge: Edge; journal: Journal }): Caller {
  const tryOnce = async (attempt: Attempt, expected: readonly number[]) => {
    const id = randomUUID();
    await journal.append({ id, sent: Date.now() });
    const askedAt = Date.now();
    const startedAt = performance.now();
    const answer = await edge.send(attempt).catch(() => undefined);
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const outcome = judge(answer, expected, attempt);
    const order = answer !== undefined && outcome === 'ok' ? attempt.orderOf?.(answer) : undefined;
    const correlationId = answer?.headers['x-correlation-id'];
    await journal.append({
      id,
      outcome,
      step: attempt.step,
      launch: attempt.launch,
      askedAt,
      ms,
      ...withoutUndefined({ status: answer?.status }),
      ...(typeof correlationId === 'string' ? { correlationId } : {}),
      ...withoutUndefined({ order }),
    });
    return { outcome, answer: answer && { ...answer, askedAt } };
  };

  return {
    async call(attempt) {
      let expected = attempt.expected;
      for (const giveUpAt = Date.now() + comesAgainForMs; Date.now() < giveUpAt; ) {
        const { outcome, answer } = await tryOnce(attempt, expected);
        if (outcome === 'ok') return answer;
        if (outcome === 'wrong' || outcome === 'late') return undefined;
        expected = [...attempt.expected, ...(attempt.expectedLater ?? [])];
        await delay(comesAgainAfterMs);
      }
      return undefined;
    },
  };
}

function judge(
  answer: HttpAnswer | undefined,
  expected: readonly number[],
  { tokenAskedAt = Number.POSITIVE_INFINITY }: Attempt,
): Outcome {
  if (answer === undefined) return 'lost';
  const { status, headers } = answer;
  if (expected.includes(status)) return 'ok';
  if (status === 503 && headers['retry-after'] !== undefined) return 'unavailable';
  return status === 401 && Date.now() - tokenAskedAt >= launchTokenMs ? 'late' : 'wrong';
}
