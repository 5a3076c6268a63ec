import type { Handler } from '@clinical-launch/service/http';
import type { ValidateAnswer } from './answers.ts';
import type { LaunchCheck, LaunchExchange } from './check-launch.ts';

/**
 * `POST /AccessApi/Validate`: refuses what RequestLaunchUrl would refuse, and uses nothing up: there is no launch
 * token, and the caller's identifier stays free. Whether the identifier is free is not looked at.
 */
export function validate(check: LaunchCheck): Handler<LaunchExchange> {
  return async (exchange) => {
    await check(exchange);
    const answer: ValidateAnswer = { errors: [] };
    exchange.response.set('Cache-Control', 'no-store').json(answer);
  };
}
