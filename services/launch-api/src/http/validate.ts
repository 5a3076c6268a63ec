import { type Static, Type } from '@clinical-launch/contracts/type';
import { sendJson } from '@clinical-launch/http/answer';
import type { Exchange } from '@clinical-launch/http/endpoint';

/** The answer of Validate to a request that RequestLaunchUrl would accept. */
export const validateAnswer = Type.Object({ errors: Type.Array(Type.Unknown(), { maxItems: 0 }) });

/**
 * Answers 200 to a request that passes the checks of RequestLaunchUrl: `POST /AccessApi/Validate`. Creates no
 * launch token. Does not check whether the originating id (IdByCaller) was used, and leaves the id usable.
 */
export function validate({ response }: Exchange): void {
  const answer: Static<typeof validateAnswer> = { errors: [] };
  response.setHeader('Cache-Control', 'no-store');
  sendJson(response, answer);
}
