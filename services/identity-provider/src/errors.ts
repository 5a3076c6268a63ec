import { ServiceError } from '@clinical-launch/service';
import type { ParameterFault } from './domain/authorization-request.ts';

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
    message: 'must not be sent more than once',
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
  missing_parameter: { status: 400, code: 'invalid_request', message: 'is missing' },
  grant_not_offered: {
    status: 400,
    code: 'unsupported_grant_type',
    message:
      'This grant_type is not offered in this realm: see grant_types_supported of the discovery document',
  },
  // RFC 6749 section 5.2: 401 is for clients that authenticate; a partner application has nothing to do so with.
  unknown_partner: {
    status: 400,
    code: 'invalid_client',
    message: 'The parameter client_id names no partner application of this realm',
  },
  partner_with_secret: {
    status: 400,
    code: 'invalid_client',
    message: 'A partner application is a public client: send client_id and no client credentials',
  },
  malformed_code_verifier: {
    status: 400,
    code: 'invalid_request',
    message: 'The parameter code_verifier must have 43 to 128 letters, digits, _ - or .',
  },
  unknown_code: deadCode(),
  used_code: deadCode(),
  code_of_other_client: deadCode(),
  code_mismatch: {
    status: 400,
    code: 'invalid_grant',
    message:
      'The code was issued for another client_id, redirect_uri or code_challenge than this request names',
  },
  unknown_refresh_token: deadRefreshToken(),
  used_refresh_token: deadRefreshToken(),
  refresh_token_of_other_client: deadRefreshToken(),
  token_of_other_client: {
    status: 400,
    code: 'invalid_grant',
    message: 'The token was issued to another client than the parameter client_id names',
  },
  scope_beyond_grant: {
    status: 400,
    code: 'invalid_scope',
    message: 'The parameter scope may name only what was granted',
  },
  wrong_scope: {
    status: 400,
    code: 'invalid_scope',
    message: 'The parameter scope must be the one of scopes_supported of the discovery document',
  },
} as const;

export type RefusalReason = keyof typeof refusals;

type RefusalOptions = {
  /** The parameter that the message is about. */
  readonly parameter?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** A token request that is refused, with the reason that the audit trail keeps. */
export class TokenRefusal extends ServiceError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, { parameter, headers, cause }: RefusalOptions = {}) {
    const { message, ...refusal } = refusals[reason];
    const told = parameter === undefined ? message : `The parameter ${parameter} ${message}`;
    super({ ...refusal, message: told, cause, ...(headers === undefined ? {} : { headers }) });
    this.reason = reason;
  }
}

/** Alike for a code that never was and one that was used: whoever guesses or replays learns nothing. */
function deadCode() {
  const message =
    'The code is unknown, has expired or was used before: start from the host application again';
  return { status: 400, code: 'invalid_grant', message } as const;
}

function deadRefreshToken() {
  const message =
    'The refresh token is unknown, has expired or was revoked: start from the host application again';
  return { status: 400, code: 'invalid_grant', message } as const;
}

function invalidClient() {
  return { status: 401, code: 'invalid_client', message: 'Client authentication failed' } as const;
}

/** The path names no realm of the registry. */
export function unknownRealm(): ServiceError {
  return new ServiceError({ status: 404, code: 'not_found', message: 'There is no such realm' });
}

/** The realm of the path exists and launches no partner applications. */
export function noDesktopRealm(): ServiceError {
  return new ServiceError({
    status: 404,
    code: 'not_found',
    message: 'No partner applications are launched in this realm',
  });
}

/** Another issuer's access token, or one that is not meant for this. */
export function notOurToken(right: string): ServiceError {
  return new ServiceError({
    status: 403,
    code: 'insufficient_scope',
    message: `The right ${right} counts only in an access token of a realm of this identity provider`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${right}"` },
  });
}

/** Nobody is looking at the answer, so nothing may be used up. */
export function speculativeRequest(): ServiceError {
  return new ServiceError({
    status: 400,
    code: 'invalid_request',
    message: 'A prefetch or a preview launches nothing',
  });
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

/** Why an authorization request is refused, for the audit trail. */
const launchRefusals = {
  faulty_parameters: 'The request has faults',
  unknown_launch: deadLaunch(),
  used_launch: deadLaunch(),
  launch_of_other_client: deadLaunch(),
} as const;

/** An authorization request that is refused: always answered directly, never by a redirect. */
export class AuthorizeRefusal extends ServiceError {
  readonly reason: keyof typeof launchRefusals;
  /** The names of the faulty parameters. */
  readonly parameters: readonly string[];

  constructor(reason: keyof typeof launchRefusals, faults: readonly ParameterFault[] = []) {
    const told = faults.map(({ name, message }) => `The parameter ${name} ${message}`).join('. ');
    super({
      status: 400,
      code: faults[0]?.code ?? 'invalid_request',
      message: told === '' ? launchRefusals[reason] : told,
    });
    this.reason = reason;
    this.parameters = faults.map(({ name }) => name);
  }
}

/** Alike for one that never was, was used, or is another application's: whoever guesses or replays learns nothing. */
function deadLaunch() {
  return 'The launch identifier is unknown, has expired, was used before or is for another application: start from the host application again';
}
