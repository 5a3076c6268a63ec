import { type AuthorizeReason, authorizeRefusals } from '@clinical-launch/contracts/refusals/authorize';
import { type TokenReason, tokenRefusals } from '@clinical-launch/contracts/refusals/token';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { ServiceError, tooMany } from '@clinical-launch/http/errors';
import type { ParameterFault } from './domain/authorization-request.ts';

type RefusalOptions = {
  readonly parameter?: string;
  /** A more specific message than the one in `tokenRefusals`. */
  readonly message?: string;
  readonly detail?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  /** The registered client of the refused credentials, for the audit trail. */
  readonly clientId?: string | undefined;
};

/** A refused token request, with the reason that the audit trail stores. */
export class TokenRefusal extends ServiceError {
  readonly reason: TokenReason;
  readonly clientId: string | undefined;

  constructor(reason: TokenReason, { parameter, headers, cause, clientId, ...exact }: RefusalOptions = {}) {
    const { message: general, ...refusal } = tokenRefusals[reason];
    const message = exact.message ?? general;
    const parts = [parameter === undefined ? message : `The parameter ${parameter} ${message}`, exact.detail];
    const sentence = parts.filter((part) => part !== undefined).join('. ');
    super({ ...refusal, message: sentence, cause, ...withoutUndefined({ headers }) });
    this.reason = reason;
    this.clientId = clientId;
  }
}

/** Creates the error for a path whose realm is not in the registry. */
export function unknownRealm(): ServiceError {
  return new ServiceError({ code: 'not_found', message: 'Realm not found' });
}

/** Creates the error for a realm without partner applications. */
export function noDesktopRealm(code: 'not_found' | 'unauthorized_client' = 'not_found'): ServiceError {
  return new ServiceError({
    code,
    message: 'This realm does not launch partner applications',
  });
}

/**
 * Creates the error for a client with too many revoked tokens that have not expired yet. The token of the
 * request was not revoked.
 */
export const tooManyRevokedTokens = (retryAfterSeconds: number): ServiceError =>
  tooMany(retryAfterSeconds * 1000, {
    message:
      'The token was not revoked, because this client has too many revoked tokens that have not expired yet. Wait for the seconds in Retry-After, or ask the operator to end all tokens of this client',
  });

/**
 * Creates the error for a launch that has used up its refreshes. Its tokens stay active.
 * @param launchEndsInSeconds undefined for a launch without an end
 */
export const tooManyRefreshes = (launchEndsInSeconds: number | undefined): ServiceError =>
  tooMany(launchEndsInSeconds === undefined ? undefined : launchEndsInSeconds * 1000, {
    message: 'This launch has used up its 1,000 refreshes. Start again from the host application',
  });

/** Creates the error for a launch with too many pushed requests. Its stored request stays usable. */
export const tooManyPushes = (retryAfterSeconds: number): ServiceError =>
  tooMany(retryAfterSeconds * 1000, {
    message:
      'This launch pushed too many authorization requests. Use the last request_uri, or wait for the seconds in Retry-After',
  });

/**
 * Creates the error for a launch that never existed, has reached its absolute end, or belongs to another
 * host.
 */
export function unknownLaunch(): ServiceError {
  return new ServiceError({
    code: 'not_found',
    message:
      'This host application has no launch with this id. Send the X-Correlation-Id of the answer that issued the launch',
  });
}

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
  readonly parameters: readonly string[];

  constructor(reason: AuthorizeReason, faults: readonly ParameterFault[] = []) {
    const sentence = faults.map(({ name, message }) => `The parameter ${name} ${message}`).join('. ');
    const { code, message } = authorizeRefusals[reason];
    super({ status: 400, code: faults[0]?.code ?? code, message: sentence === '' ? message : sentence });
    this.reason = reason;
    this.parameters = faults.map(({ name }) => name);
  }
}
