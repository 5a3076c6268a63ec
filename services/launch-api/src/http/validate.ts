import { sendJson } from '@clinical-launch/http/answer';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { ValidateAnswer } from './interface.ts';

/**
 * Answers a request that RequestLaunchUrl would accept: `POST /AccessApi/Validate`. Behind the same checks, it
 * creates no launch token and leaves the caller's identifier free, whose use it does not check.
 */
export function validate({ response }: Exchange): void {
  const answer: ValidateAnswer = { errors: [] };
  response.setHeader('Cache-Control', 'no-store');
  sendJson(response, answer);
}
