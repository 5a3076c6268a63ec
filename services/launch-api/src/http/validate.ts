import type { RequestHandler } from 'express';
import type { ValidateAnswer } from '../openapi/answers.ts';
import type { LaunchCheck } from './check-launch.ts';

/**
 * `POST /AccessApi/Validate`: refuses what RequestLaunchUrl would refuse, and uses nothing up: there is no launch
 * token, and the caller's identifier stays free. Whether the identifier is free is not looked at.
 */
export function validate(check: LaunchCheck): RequestHandler {
  return async (request, response) => {
    await check(request, response);
    const answer: ValidateAnswer = { errors: [] };
    response.set('Cache-Control', 'no-store').json(answer);
  };
}
