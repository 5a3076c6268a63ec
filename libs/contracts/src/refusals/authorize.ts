import type { RefusalCode } from './codes.ts';

/** The refusals of authorization requests. The audit trail stores the key of an entry as `reason`. */
export const authorizeRefusals = {
  faulty_parameters: { code: 'invalid_request', message: 'The request is invalid' },
  unknown_launch: deadLaunch(),
  used_launch: deadLaunch(),
  launch_of_other_client: deadLaunch(),
  // RFC 9126 section 4 requires this error code.
  unpushed_request: {
    code: 'invalid_request',
    message:
      'This application must push its authorization requests. Use pushed_authorization_request_endpoint of the discovery document',
  },
  // OpenID Connect Core 1.0 section 3.1.2.6 defines this error code.
  sign_in_too_old: {
    code: 'login_required',
    message:
      'The user signed in longer ago than max_age allows. Ask the user to sign in to the host application again and to start again from there',
  },
  sign_in_time_unknown: {
    code: 'login_required',
    message:
      'The host application did not send when the user signed in, so max_age cannot be checked. Start again without max_age',
  },
  // OpenID Connect Core Error Code unmet_authentication_requirements 1.0 defines this error code.
  acr_unmet: {
    code: 'unmet_authentication_requirements',
    message:
      'The sign-in of the user meets none of the acr_values. Ask the user to sign in to the host application with a stronger method and to start again from there',
  },
  unknown_request_uri: deadRequestUri(),
  used_request_uri: deadRequestUri(),
  request_uri_of_other_client: deadRequestUri(),
} as const satisfies Readonly<Record<string, { readonly code: RefusalCode; readonly message: string }>>;

export type AuthorizeReason = keyof typeof authorizeRefusals;

/**
 * Returns the answer for a launch identifier that never existed, was used, or belongs to another application.
 * All three have the same answer, so that attackers who guess or replay identifiers learn nothing.
 */
function deadLaunch() {
  const message =
    'The launch identifier is unknown, has expired, was already used or is for another application. Start again from the host application';
  return { code: 'invalid_request', message } as const;
}

function deadRequestUri() {
  const message =
    'The request_uri is unknown, has expired, was already used or is for another application. Push the request again';
  return { code: 'invalid_request_uri', message } as const;
}
