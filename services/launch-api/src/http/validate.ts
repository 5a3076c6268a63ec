import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/exchange';
import type { ValidateAnswer } from './answers.ts';
import type { LaunchCheck, LaunchExchange } from './check-launch.ts';

/**
 * Checks a request without using anything up: `POST /AccessApi/Validate`. Refuses what RequestLaunchUrl would
 * refuse, creates no launch token, and leaves the caller's identifier free. Does not check whether the
 * identifier is free.
 */
export function validate(check: LaunchCheck): Handler<LaunchExchange> {
  return async (exchange) => {
    await check(exchange);
    const answer: ValidateAnswer = { errors: [] };
    exchange.response.setHeader('Cache-Control', 'no-store');
    sendJson(exchange.response, answer);
  };
}
