import { sendJson } from '@clinical-launch/http/answer';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { ValidateAnswer } from './interface.ts';

/**
 * Answers a request that RequestLaunchUrl would accept: `POST /AccessApi/Validate`. Runs after the same
 * checks. Creates no launch token, and neither checks nor uses the caller's identifier.
 */
export function validate({ response }: Exchange): void {
  const answer: ValidateAnswer = { errors: [] };
  response.setHeader('Cache-Control', 'no-store');
  sendJson(response, answer);
}
