import { type Static, Type } from '@clinical-launch/contracts/type';
import { sendJson } from '@clinical-launch/http/answer';
import type { Exchange } from '@clinical-launch/http/endpoint';

/** The answer of Validate to a request that RequestLaunchUrl would accept. */
export const validateAnswer = Type.Object({ errors: Type.Array(Type.Unknown(), { maxItems: 0 }) });
type ValidateAnswer = Static<typeof validateAnswer>;

/**
 * Answers a request that RequestLaunchUrl would accept: `POST /AccessApi/Validate`. Behind the same checks, it
 * creates no launch token and leaves the caller's identifier free, whose use it does not check.
 */
export function validate({ response }: Exchange): void {
  const answer: ValidateAnswer = { errors: [] };
  response.setHeader('Cache-Control', 'no-store');
  sendJson(response, answer);
}
