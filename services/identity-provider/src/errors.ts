import { ServiceError } from '@clinical-launch/service';

/**
 * Why a token is not given. The reason is for the audit trail; a caller is told `code` and `message` alone, which
 * are the same for an unknown client and a wrong secret (RFC 6749 section 5.2).
 */
const refusals = {
  not_a_form: {
    status: 400,
    code: 'invalid_request',
    message: 'Send the parameters as application/x-www-form-urlencoded, in UTF-8',
  },
  body_too_large: { status: 413, code: 'invalid_request', message: 'The body is too large' },
  repeated_parameter: {
    status: 400,
    code: 'invalid_request',
    message: 'A parameter must not be sent more than once',
  },
  missing_grant_type: {
    status: 400,
    code: 'invalid_request',
    message: 'The parameter grant_type is missing',
  },
  unsupported_grant_type: {
    status: 400,
    code: 'unsupported_grant_type',
    message: 'This grant_type is not offered here: see grant_types_supported of the discovery document',
  },
  two_authentications: {
    status: 400,
    code: 'invalid_request',
    message: 'Send the client credentials once: in the body or by HTTP Basic',
  },
  no_authentication: invalidClient(),
  malformed_authorization: invalidClient(),
  unknown_client: invalidClient(),
  wrong_secret: invalidClient(),
  expired_secret: invalidClient(),
  wrong_scope: {
    status: 400,
    code: 'invalid_scope',
    message: 'The parameter scope must be the one of scopes_supported of the discovery document',
  },
} as const;

export type RefusalReason = keyof typeof refusals;

/** A token request that is refused, with the reason that the audit trail keeps. */
export class TokenRefusal extends ServiceError {
  readonly reason: RefusalReason;

  constructor(
    reason: RefusalReason,
    { headers, cause }: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super({ ...refusals[reason], cause, ...(headers === undefined ? {} : { headers }) });
    this.reason = reason;
  }
}

function invalidClient() {
  return { status: 401, code: 'invalid_client', message: 'Client authentication failed' } as const;
}

/** The path names no realm of the registry. */
export function unknownRealm(): ServiceError {
  return new ServiceError({ status: 404, code: 'not_found', message: 'There is no such realm' });
}

/** The signing keys were not read for so long that another replica may have replaced them. */
export function keysOutOfReach(cause: unknown): ServiceError {
  return new ServiceError({
    status: 503,
    code: 'temporarily_unavailable',
    message: 'The signing keys are out of reach: try again',
    headers: { 'Retry-After': '5' },
    cause,
  });
}
