import { ServiceError } from '@clinical-launch/service/http';
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
    message:
      'Send one kind of client credentials, once: a secret in the body or by HTTP Basic, or a client_assertion',
  },
  no_authentication: invalidClient(),
  malformed_authorization: invalidClient(),
  unknown_client: invalidClient(),
  wrong_secret: invalidClient(),
  expired_secret: invalidClient(),
  wrong_certificate: invalidClient(),
  wrong_assertion: invalidClient(),
  wrong_assertion_type: {
    status: 401,
    code: 'invalid_client',
    message:
      'The parameter client_assertion_type must be urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  },
  faulty_assertion: {
    status: 401,
    code: 'invalid_client',
    message: 'The client assertion must be a JWT with the claims iss, sub, aud (one value), exp and jti',
  },
  assertion_of_other_client: {
    status: 401,
    code: 'invalid_client',
    message: 'The claims iss and sub of the client assertion must both be the client_id',
  },
  assertion_for_other_audience: {
    status: 401,
    code: 'invalid_client',
    message: 'The claim aud of the client assertion must be the issuer of this realm or its token_endpoint',
  },
  assertion_out_of_time: {
    status: 401,
    code: 'invalid_client',
    message:
      'The client assertion has expired, is not valid yet, or its exp is more than 5 minutes ahead: sign one per request',
  },
  used_assertion: {
    status: 401,
    code: 'invalid_client',
    message: 'The client assertion was used before: sign one per request, each with its own jti',
  },
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
    message: 'The token was issued to another client than the one that sent this request',
  },
  invalid_dpop_proof: dpopFault('The DPoP proof is not valid'),
  used_dpop_proof: dpopFault('The DPoP proof was used before: make one per request, each with its own jti'),
  missing_dpop_proof: dpopFault('This application must send a DPoP proof in the header DPoP'),
  // RFC 8705 section 3 names no error; the request lacks what its client registered for.
  missing_certificate: {
    status: 400,
    code: 'invalid_request',
    message:
      'The tokens of this client are bound to its certificate: connect by TLS with a client certificate',
  },
  ticket_of_other_certificate: {
    status: 400,
    code: 'invalid_grant',
    message: 'The refresh token is bound to another client certificate: connect by TLS with that certificate',
  },
  ticket_of_other_key: {
    status: 400,
    code: 'invalid_grant',
    message:
      'The code or refresh token is bound to another key: send a DPoP proof that is signed by that key',
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
  /** Takes the place of the catalogue's message, where it can be more exact. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** A token request that is refused, with the reason that the audit trail keeps. */
export class TokenRefusal extends ServiceError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, { parameter, headers, cause, ...exact }: RefusalOptions = {}) {
    const { message: general, ...refusal } = refusals[reason];
    const message = exact.message ?? general;
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

/** RFC 9449 section 5 */
function dpopFault(message: string) {
  return { status: 400, code: 'invalid_dpop_proof', message } as const;
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

/** The client reached the number of revoked tokens that have not expired yet. Nothing was revoked. */
export function tooManyRevokedTokens(retryAfterSeconds: number): ServiceError {
  return new ServiceError({
    status: 429,
    code: 'too_many_requests',
    message:
      'The token was not revoked: this client has too many revoked tokens that have not expired yet. Wait as long as Retry-After says, or ask the operator to end all tokens of this client',
    headers: { 'Retry-After': String(Math.ceil(retryAfterSeconds)) },
  });
}

/** Alike for a launch that never was, has reached its absolute end, or is another host's. */
export function unknownLaunch(): ServiceError {
  return new ServiceError({
    status: 404,
    code: 'not_found',
    message:
      'This host application has no such launch: send the GUID that X-Correlation-Id had when it was issued',
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

/** Why an authorization request is refused; the reason is for the audit trail. */
const launchRefusals = {
  faulty_parameters: { code: 'invalid_request', message: 'The request has faults' },
  unknown_launch: deadLaunch(),
  used_launch: deadLaunch(),
  launch_of_other_client: deadLaunch(),
  // RFC 9126 section 4
  unpushed_request: {
    code: 'invalid_request',
    message:
      'This application must push its authorization requests: see pushed_authorization_request_endpoint of the discovery document',
  },
  unknown_request_uri: deadRequestUri(),
  used_request_uri: deadRequestUri(),
  request_uri_of_other_client: deadRequestUri(),
} as const;

/** An authorization request that is refused: always answered directly, never by a redirect. */
export class AuthorizeRefusal extends ServiceError {
  readonly reason: keyof typeof launchRefusals;
  /** The names of the faulty parameters. */
  readonly parameters: readonly string[];

  constructor(reason: keyof typeof launchRefusals, faults: readonly ParameterFault[] = []) {
    const told = faults.map(({ name, message }) => `The parameter ${name} ${message}`).join('. ');
    const { code, message } = launchRefusals[reason];
    super({ status: 400, code: faults[0]?.code ?? code, message: told === '' ? message : told });
    this.reason = reason;
    this.parameters = faults.map(({ name }) => name);
  }
}

/** Alike for one that never was, was used, or is another application's: whoever guesses or replays learns nothing. */
function deadLaunch() {
  const message =
    'The launch identifier is unknown, has expired, was used before or is for another application: start from the host application again';
  return { code: 'invalid_request', message } as const;
}

function deadRequestUri() {
  const message =
    'The request_uri is unknown, has expired, was used before or is for another application: push the request again';
  return { code: 'invalid_request_uri', message } as const;
}
