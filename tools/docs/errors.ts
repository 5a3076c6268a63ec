/** Builds the table of refusal codes in docs/reference/errors.md. The rest of the page is written by hand. */
import { readFileSync } from 'node:fs';
import { type RefusalCode, refusalCodes, refusals } from '@clinical-launch/contracts/refusals/codes';

export const errorsFile = new URL('../../docs/reference/errors.md', import.meta.url);

/**
 * The meaning of each code for developers, and the remedy. The audit trail contains the texts for support
 * desks.
 */
export const refusalWords: Readonly<Record<RefusalCode, readonly [cause: string, remedy: string]>> = {
  invalid_payload: ['The ServiceRequest or the code challenge is invalid', 'Correct the fields in `errors`'],
  invalid_request: [
    'The request or its body cannot be read, or is invalid. 408: a body of at most 64 KiB took more than five seconds',
    'Correct the fields in `errors` or in the description',
  ],
  invalid_request_uri: [
    'The `request_uri` of an authorization request is unknown, has expired, was used or replaced, or belongs to another application',
    'Push the request again (RFC 9126)',
  ],
  login_required: [
    'The user signed in longer ago than `max_age` allows, the host application sent no `auth_time`, or `prompt` contains `login` (OpenID Connect Core 1.0 section 3.1.2.6)',
    'Let the user sign in to the host application again, and start again from there',
  ],
  request_not_supported: [
    'The authorization request contains `request` (OpenID Connect Core 1.0 section 6)',
    'Send each parameter by itself, or push the request (RFC 9126)',
  ],
  registration_not_supported: [
    'The authorization request contains `registration` (OpenID Connect Core 1.0 section 7)',
    'Omit it: the operator registers applications',
  ],
  unmet_authentication_requirements: [
    'The `acr` of the sign-in is none of the requested `acr_values`, and your registration sets `requireAcrValues`',
    'Let the user sign in to the host application with a stronger method, and start again from there',
  ],
  invalid_scope: ['You requested a scope that you may not use', 'Request the scopes of your registration'],
  invalid_grant: [
    'The code or refresh token is unknown, expired or used, or belongs to another application or key',
    'Start again from the host application',
  ],
  invalid_dpop_proof: ['The DPoP proof is missing, wrong or used', 'Create a new proof for each request'],
  unauthorized_client: [
    '`client_id` is not a partner application of the realm, or the realm has none',
    'Check the realm and the registration',
  ],
  unsupported_response_type: ['`response_type` is not `code`', 'Send `code`'],
  unsupported_grant_type: [
    'The realm does not offer the grant',
    'See `grant_types_supported` in the discovery document',
  ],
  no_host: [
    'The request has no `Host` header (HTTP/1.1), several, or an invalid one',
    'Send one valid header',
  ],
  fragment_in_target: [
    'The request target contains `#` (RFC 9112 section 3.2)',
    'Send the address without the fragment',
  ],
  faulty_form: ['The form of a page is invalid', 'Open the page again'],
  speculative_request: [
    'A browser prefetched a page or `/secureLaunch`, or loaded `/secureLaunch` as an image, a script or data. The launch can still be opened',
    "Nothing: the user's own request works",
  ],
  invalid_client: [
    'Client authentication failed, or `client_id` is not known',
    'Check the realm, the client id and its secret or key',
  ],
  invalid_token: [
    'The access token is missing or refused',
    'Look up the description under “Why an access token is refused”',
  ],
  sign_in_failed: [
    'The sign-in to the audit pages started in another browser, took too long, or was refused by the staff identity provider',
    'Open the audit trail again',
  ],
  missing_parameter: [
    '`launchToken` or `codeVerifier` is missing or repeated in `/secureLaunch`',
    'Send each parameter once. The names are case-sensitive',
  ],
  unreadable_form: [
    'The body of a POST to `/secureLaunch` is not a form',
    'Send `launchToken` and `codeVerifier` as a form',
  ],
  token_unknown: [
    'The launch token never existed or has expired',
    'Request another launch URL, and open it immediately',
  ],
  verifier_mismatch: [
    'The code verifier does not match the code challenge; the token can still be used',
    'Send the verifier from which the challenge was computed',
  ],
  navigation_required: [
    'The client requires that a browser navigates to `/secureLaunch` (`requireNavigation`), and the request has no `Sec-Fetch-Mode: navigate`. The token can still be used',
    'Open the launch URL in a current browser, or post it as a form',
  ],
  session_ended: [
    'The launch session ended, or belongs to another launch',
    'Launch again from the practice system',
  ],
  session_required: [
    'The document was requested without a launch session',
    'Launch again from the practice system',
  ],
  insufficient_scope: [
    'The token lacks the right in the `WWW-Authenticate` header, or the user lacks the permission',
    'Ask the operator for the right, or the host application for the permission',
  ],
  foreign_form: ['A form was sent from another site', 'Send the form from the page of the application'],
  not_of_this_action: [
    'The action of the launch does not allow the request',
    'Launch with an action that allows the request',
  ],
  not_practice_editor: [
    'The user may not change the favourites and order sets of the practice',
    'Ask the operator to list the user among the `editors` of the practice',
  ],
  not_found: ['The address, the realm or the launch does not exist', 'Check the address'],
  trailing_slash: ['The address exists only without the slash at its end', 'Remove the slash'],
  order_not_found: ['The launch has no such order', 'Check the address, or launch again'],
  no_catalogue: [
    'The laboratory named as performer has no catalogue',
    'Launch with another performer, or ask the operator to add its catalogue',
  ],
  request_not_found: [
    'The request does not exist, or the launch may not show it',
    'Check the request in the practice system',
  ],
  method_not_allowed: ['The address does not support the method', 'Use a method listed in `Allow`'],
  identifier_used: [
    'This client has already used the originating id',
    'Use a new identifier for each new request',
  ],
  form_of_another_launch: [
    'A form belongs to the window of another launch',
    'Close the page, and use the window of the current launch',
  ],
  request_complete: [
    'The request is complete and cannot be changed',
    'Order the missing tests in a new request',
  ],
  token_used: ['The launch token has already been used', 'Request another launch URL'],
  too_large: ['The body exceeds the limit in the message', 'Send a smaller body'],
  unsupported_media_type: [
    'The body has an unsupported media type or charset, or is compressed',
    'Send `application/json` or `application/fhir+json` in UTF-8, uncompressed',
  ],
  too_many_requests: [
    'The client, the address or the launch has reached a limit',
    'Wait for the time in `Retry-After`',
  ],
  server_error: ['The service has a defect or failed', 'Report the correlation id'],
  temporarily_unavailable: [
    'Redis, the database or another dependency does not answer, or too many bodies are being sent',
    'Repeat the request after `Retry-After`',
  ],
  document_not_ready: ['The order document is being prepared', 'Repeat the request after `Retry-After`'],
};

const heading = '\n## Codes of refusals\n';
const table = /(?:^\|.*\n)+/m;

/** Returns the page with the table of refusal codes. */
export function errorsText(): string {
  const [before = '', after = ''] = readFileSync(errorsFile, 'utf8').split(heading);
  const rows = refusalCodes.map((code) => {
    const [cause, remedy] = refusalWords[code];
    return `| \`${code}\` | ${[...refusals[code]].toSorted((one, other) => one - other).join(', ')} | ${cause} | ${remedy} |\n`;
  });
  const head = '| code | status | cause | what to do |\n|---|---|---|---|\n';
  return before + heading + after.replace(table, () => head + rows.join(''));
}
