import type { RefusalCode } from './codes.ts';

type TokenRefusal = { readonly status: number; readonly code: RefusalCode; readonly message: string };

/**
 * The refusals of token requests. The audit trail stores the key of an entry as `reason`. The caller receives
 * only `code` and `message`, which are the same for an unknown client and a wrong secret (RFC 6749 section
 * 5.2).
 */
export const tokenRefusals = {
  not_a_form: {
    status: 400,
    code: 'invalid_request',
    message: 'Send the parameters as application/x-www-form-urlencoded, in UTF-8',
  },
  body_too_large: { status: 413, code: 'invalid_request', message: 'The body is too large' },
  request_too_large: {
    status: 413,
    code: 'invalid_request',
    message: 'The parameters of a pushed authorization request may have 4,096 bytes in all',
  },
  repeated_parameter: {
    status: 400,
    code: 'invalid_request',
    message: 'must not be sent more than once',
  },
  unsupported_grant_type: {
    status: 400,
    code: 'unsupported_grant_type',
    message: 'The grant_type is not supported. Use one of grant_types_supported in the discovery document',
  },
  two_authentications: {
    status: 400,
    code: 'invalid_request',
    message:
      'Send one kind of client credentials, once: a secret in the body, a client_assertion, or the Authorization header (HTTP Basic)',
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
      'The client assertion has expired, is not valid yet, or its exp is more than 10 minutes ahead. Sign a new assertion for each request',
  },
  used_assertion: {
    status: 401,
    code: 'invalid_client',
    message: 'The client assertion was already used. Sign a new assertion for each request, with its own jti',
  },
  missing_parameter: { status: 400, code: 'invalid_request', message: 'is missing' },
  grant_not_offered: {
    status: 400,
    code: 'unsupported_grant_type',
    message:
      'The grant_type is not supported in this realm. Use one of grant_types_supported in the discovery document',
  },
  // The status is not 401, because a partner application is a public client that does not authenticate
  // (RFC 6749 section 5.2).
  unknown_partner: {
    status: 400,
    code: 'invalid_client',
    message: 'The client_id is not a partner application of this realm',
  },
  partner_with_secret: {
    status: 400,
    code: 'invalid_client',
    message:
      'A partner application is a public client. Send client_id, no client credentials and no Authorization header',
  },
  malformed_code_verifier: {
    status: 400,
    code: 'invalid_request',
    message:
      'The parameter code_verifier must be 43 to 128 letters, digits, _ - or ., and with the profile standard also ~',
  },
  unknown_code: deadCode(),
  used_code: deadCode(),
  code_of_other_client: deadCode(),
  code_mismatch: {
    status: 400,
    code: 'invalid_grant',
    message:
      'The client_id, redirect_uri or code_verifier does not match the one that the code was issued for',
  },
  unknown_refresh_token: deadRefreshToken(),
  used_refresh_token: deadRefreshToken(),
  refresh_token_of_other_client: deadRefreshToken(),
  token_of_other_client: {
    status: 400,
    code: 'invalid_grant',
    message: 'The token was issued to a different client',
  },
  invalid_dpop_proof: dpopFault('The DPoP proof is not valid'),
  used_dpop_proof: dpopFault(
    'The DPoP proof was already used. Create a new proof for each request, with its own jti',
  ),
  missing_dpop_proof: dpopFault('This application must send a DPoP proof in the DPoP header'),
  // RFC 8705 section 3 defines no error code for a request without the registered certificate.
  missing_certificate: {
    status: 400,
    code: 'invalid_request',
    message:
      'The tokens of this client are bound to its certificate. Connect by TLS with a client certificate',
  },
  ticket_of_other_certificate: {
    status: 400,
    code: 'invalid_grant',
    message:
      'The refresh token is bound to a different client certificate. Connect by TLS with that certificate',
  },
  ticket_of_other_key: {
    status: 400,
    code: 'invalid_grant',
    message:
      'The code or refresh token is bound to a different key. Send a DPoP proof that is signed by that key',
  },
  scope_beyond_grant: {
    status: 400,
    code: 'invalid_scope',
    message: 'The parameter scope may contain only scopes that were granted',
  },
  wrong_scope: {
    status: 400,
    code: 'invalid_scope',
    message: 'must be the identifier of the API, followed by /.default',
  },
} as const satisfies Readonly<Record<string, TokenRefusal>>;

export type TokenReason = keyof typeof tokenRefusals;

/**
 * Returns the answer for a code that never existed, was used, or belongs to another client. All three have
 * the same answer, so that attackers who guess or replay codes learn nothing.
 */
function deadCode() {
  const message =
    'The code is unknown, has expired or was already used. Start again from the host application';
  return { status: 400, code: 'invalid_grant', message } as const;
}

function deadRefreshToken() {
  const message =
    'The refresh token is unknown, has expired or was revoked. Start again from the host application';
  return { status: 400, code: 'invalid_grant', message } as const;
}

/** Returns the answer to an invalid DPoP proof (RFC 9449 section 5). */
function dpopFault(message: string) {
  return { status: 400, code: 'invalid_dpop_proof', message } as const;
}

function invalidClient() {
  return { status: 401, code: 'invalid_client', message: 'Client authentication failed' } as const;
}
