import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import type { Fault } from '@clinical-launch/contracts/fault';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { sendJson, sendStatus } from '@clinical-launch/http/answer';
import { readJson } from '@clinical-launch/http/body';
import { type Endpoint, type Exchange, endpoint, type Handler } from '@clinical-launch/http/endpoint';
import { problemDialect, ServiceError } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';

const daySeconds = 86_400;
/** The farthest that the clock can be ahead of the machine: ten years. */
const maxAheadMs = 3653 * daySeconds * 1000;

/**
 * A clock that is ahead of the machine's clock by the time that tests add. It never goes back. Otherwise, a
 * used or expired token could become valid again, which happens on no real platform.
 */
export class MovableClock implements Clock {
  #aheadMs = 0;

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Moves the clock forward. @throws ServiceError 400 if it would go back, or too far ahead */
  advance(ms: number): void {
    if (ms < 0) throw refused('now', 'must not be in the past. The clock never goes back. Restart the twin');
    if (this.#aheadMs + ms > maxAheadMs)
      throw refused('', 'must not move the clock more than ten years ahead of the machine');
    this.#aheadMs += ms;
  }
}

const refused = (path: string, message: string) => invalid([{ path, message, code: 'business-rule' }]);

const invalid = (faults: readonly Fault[]) =>
  new ServiceError({
    code: 'invalid_request',
    message: 'Send one member: "now", an instant, or "advanceSeconds", a number',
    faults,
  });

const move = compileSchema(
  Type.Object(
    {
      now: optionalText({ format: 'full-date-time' }),
      advanceSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 366 * daySeconds })),
    },
    { additionalProperties: false, minProperties: 1, maxProperties: 1 },
  ),
);

/**
 * Creates the endpoint `/clock`. GET answers the time. POST moves the clock to `now`, or by `advanceSeconds`,
 * and answers the new time. Accepts only JSON, which a page of another origin cannot send without a CORS
 * preflight, and answers no preflight.
 */
export function moveClock(clock: MovableClock): Endpoint {
  const answerTime = ({ response }: Exchange) =>
    sendJson(response, { now: new Date(clock.now()).toISOString() });
  return controlled('/clock', {
    GET: answerTime,
    async POST(exchange) {
      clock.advance(await readMove(exchange, clock));
      answerTime(exchange);
    },
  });
}

/** Creates the endpoint `/keys`, which signs ID tokens with new keys from then on. Accepts only JSON. */
export const rotateKeys = ({ keys }: Pick<ConformanceRuns, 'keys'>): Endpoint =>
  controlled('/keys', {
    async POST(exchange) {
      await readJson(exchange, jsonOnly);
      keys.rotate();
      sendStatus(exchange.response, 204);
    },
  });

const controlled = (path: string, methods: Partial<Record<'GET' | 'POST', Handler>>): Endpoint =>
  endpoint({
    path,
    source: '/twin',
    dialect: problemDialect({ isProduction: false }),
    headers: { 'Cache-Control': 'no-store' },
    methods,
  });

const jsonOnly = { types: ['application/json'], limitBytes: 1024 };

/** Returns the milliseconds by which a request moves the clock. @throws ServiceError */
async function readMove(exchange: Exchange, clock: Clock): Promise<number> {
  const body = await readJson(exchange, jsonOnly);
  if (!move.is(body)) throw invalid(move.faultsOf(body));
  return body.now === undefined ? (body.advanceSeconds ?? 0) * 1000 : Date.parse(body.now) - clock.now();
}
