import { type AuthorizeReason, authorizeRefusals } from '@clinical-launch/contracts/refusals/authorize';
import { ServiceError } from '@clinical-launch/http/errors';
import type { ParameterFault } from './domain/authorization-request.ts';

/** Creates the error for a request whose answer no user opens. It must not use up a single-use identifier. */
export function speculativeRequest(): ServiceError {
  return new ServiceError({
    code: 'invalid_request',
    message: 'A prefetch, a preview, an image or a script cannot start a launch',
  });
}

/** A refused authorization request, which is always answered directly and never by a redirect. */
export class AuthorizeRefusal extends ServiceError {
  readonly reason: AuthorizeReason;
  /** The names of the invalid parameters. */
  readonly parameters: readonly string[];

  constructor(reason: AuthorizeReason, faults: readonly ParameterFault[] = []) {
    const sentence = faults.map(({ name, message }) => `The parameter ${name} ${message}`).join('. ');
    const { code, message } = authorizeRefusals[reason];
    super({ status: 400, code: faults[0]?.code ?? code, message: sentence === '' ? message : sentence });
    this.reason = reason;
    this.parameters = faults.map(({ name }) => name);
  }
}
