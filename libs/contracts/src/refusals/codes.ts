/**
 * The codes of refusals and failures, with their HTTP statuses. The usual status is first. A code appears as
 * `code` in the log, as `reason` in the audit trail, and as `error` in OAuth answers. The meaning of a code
 * never changes. `docs/reference/errors.md` explains each code.
 */
export const refusals = {
  invalid_payload: [400],
  invalid_request: [400, 408, 413],
  invalid_request_uri: [400],
  login_required: [400],
  request_not_supported: [400],
  registration_not_supported: [400],
  unmet_authentication_requirements: [400],
  invalid_scope: [400],
  invalid_grant: [400],
  invalid_dpop_proof: [400, 401],
  unauthorized_client: [400],
  unsupported_response_type: [400],
  unsupported_grant_type: [400],
  no_host: [400],
  fragment_in_target: [400],
  faulty_form: [400],
  speculative_request: [400, 401],
  invalid_client: [401, 400],
  invalid_token: [401],
  sign_in_failed: [400],
  missing_parameter: [401],
  unreadable_form: [401],
  token_unknown: [401],
  verifier_mismatch: [401],
  navigation_required: [401],
  session_ended: [401],
  session_required: [401],
  insufficient_scope: [403],
  foreign_form: [403],
  not_of_this_action: [403],
  not_practice_editor: [403],
  not_found: [404],
  trailing_slash: [404],
  order_not_found: [404],
  no_catalogue: [404],
  request_not_found: [404],
  method_not_allowed: [405],
  identifier_used: [409],
  form_of_another_launch: [409],
  request_complete: [409],
  token_used: [410],
  too_large: [413],
  unsupported_media_type: [415],
  too_many_requests: [429],
  server_error: [500],
  temporarily_unavailable: [503],
  document_not_ready: [503],
} as const satisfies Readonly<Record<string, readonly [number, ...number[]]>>;

export type RefusalCode = keyof typeof refusals;

export const refusalCodes = Object.keys(refusals) as readonly RefusalCode[];
