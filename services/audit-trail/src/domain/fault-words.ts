import type { EventData } from '@clinical-launch/contracts/events/catalogue';
import type { AuthorizeReason } from '@clinical-launch/contracts/refusals/authorize';
import type { RefusalCode } from '@clinical-launch/contracts/refusals/codes';
import type { DocumentFailure } from '@clinical-launch/contracts/refusals/delivery';
import type { TokenReason } from '@clinical-launch/contracts/refusals/token';

type RevocationReason = EventData<'desktop.chain.revoked.v1'>['reason'];

/** The cause of a refusal in plain words, and the advice for the person who contacts the support desk. */
export type FaultWords = { readonly cause: string; readonly advice: string };

type Row = readonly [cause: string, advice: string];

const launchAgain = 'Start again from the practice system.';
const startFromHost = 'Start again from the host application.';
const signInAgain = 'Sign in to the host application again, then start the application again.';
const signInStronger =
  'Sign in to the host application with a stronger method, such as a smartcard, then start the application again.';
const askSupplier = 'This is for the supplier of the practice system. Give them the reference.';
const askPartner = 'This is for the supplier of the application. Give them the reference.';
const askBoth = 'This is for the supplier of the application that called. Give them the reference.';
const checkCredentials =
  'Ask the supplier to check the client id and its credentials. If they were changed here, give the supplier the new ones.';

const codes: Readonly<Record<RefusalCode, Row>> = {
  invalid_payload: ['The practice system sent details of the launch that are not valid.', askSupplier],
  invalid_request: ['The request was not complete, or could not be read.', askBoth],
  invalid_request_uri: ['The prepared request is unknown, expired or already used.', startFromHost],
  login_required: ['The user signed in too long ago for the application.', signInAgain],
  request_not_supported: ['The application sent its request in a form that is not offered.', askPartner],
  registration_not_supported: ['The application tried to register itself in its request.', askPartner],
  unmet_authentication_requirements: [
    'The user signed in with a weaker method than the application requires.',
    signInStronger,
  ],
  invalid_scope: ['The application asked for access that it is not registered for.', askBoth],
  invalid_grant: ['The code or refresh token is unknown, expired or already used.', startFromHost],
  invalid_dpop_proof: ['The application did not prove that it holds its key.', askPartner],
  unauthorized_client: ['The application is not registered in this realm.', askPartner],
  unsupported_response_type: ['The application asked for a type of answer that is not offered.', askPartner],
  unsupported_grant_type: ['The application asked for tokens in a way that is not offered.', askPartner],
  fragment_in_target: ['The address in the request had a part after “#”, which only browsers use.', askBoth],
  no_host: ['The request did not say which address it was for.', askBoth],
  faulty_form: ['A form of a page could not be read.', 'Open the page again and repeat the step.'],
  speculative_request: [
    'The browser loaded the launch before the user opened it. This did not count as opening it.',
    'If the launch was opened afterwards, there is nothing to do. Otherwise start again from the practice system.',
  ],
  invalid_client: ['The application could not prove who it is.', checkCredentials],
  invalid_token: [
    'The access token was missing, expired, revoked or not for this service.',
    'Ask the supplier to get a new access token. The answer to the request explained what was wrong with the old one.',
  ],
  missing_parameter: [
    'The launch address was not complete: the launch token or the code verifier was missing or sent twice.',
    askSupplier,
  ],
  unreadable_form: ['The form that was sent to open the launch could not be read.', askSupplier],
  token_unknown: [
    'The launch was opened too late, or with a token that does not exist. A launch must be opened within seconds.',
    'Start again from the practice system. If it happens often, the network or the computer is slow, or the supplier opens launches too late.',
  ],
  verifier_mismatch: [
    'The launch was opened with a code verifier that does not belong to it. It could still be opened with the right one.',
    askSupplier,
  ],
  navigation_required: [
    'A program, such as a link scanner, or an old browser asked for the launch. This did not count as opening it.',
    'If the launch was opened afterwards, there is nothing to do. Otherwise update the browser, then start again from the practice system.',
  ],
  session_ended: ['The session of the launch had ended.', launchAgain],
  session_required: ['There was no session for the document.', launchAgain],
  insufficient_scope: [
    'The application or the user does not have the right to do this.',
    'Ask the operator to add the right to the registration, or the practice to give the user the permission.',
  ],
  sign_in_failed: [
    'A member of staff could not sign in to the audit pages.',
    'Ask them to open the audit trail again. If it happens again, ask the operator to check the identity provider for staff.',
  ],
  foreign_form: ['A form was sent from a page of another website.', 'Use the page of the application.'],
  not_of_this_action: [
    'The user opened a page that is not part of the action of the launch.',
    'Start again from the practice system with the right action.',
  ],
  not_practice_editor: [
    'The user may not change the favourites and order sets of the practice.',
    'If the user should be able to, ask the operator to add them to the editors of the practice.',
  ],
  not_found: ['The address that was requested does not exist.', askBoth],
  trailing_slash: ['The address that was requested exists only without the slash at its end.', askBoth],
  order_not_found: ['The order does not belong to this launch.', launchAgain],
  no_catalogue: [
    'There is no catalogue of the laboratory that the launch named.',
    'Ask the practice to choose another laboratory, or the operator to add the catalogue.',
  ],
  request_not_found: [
    'The request does not exist, or this launch may not see it.',
    'Check the request in the practice system.',
  ],
  method_not_allowed: ['The address does not accept this kind of request.', askBoth],
  identifier_used: [
    'The practice system used the identifier of this launch before.',
    'Start again from the practice system. If it happens again, the supplier must send a new identifier each time.',
  ],
  form_of_another_launch: [
    'A form that belongs to another patient’s window was sent. Nothing was changed.',
    'Close the page and continue in the other window.',
  ],
  request_complete: [
    'The request was already complete, so it could not be changed.',
    'Order any missing tests in a new request.',
  ],
  token_used: [
    'The launch had already been opened. A launch can only be opened once.',
    'Continue in the window that is open, or start again from the practice system. Do not reload or bookmark the launch.',
  ],
  too_large: ['The request was too large.', askBoth],
  unsupported_media_type: ['The request was not in the format that was expected.', askBoth],
  too_many_requests: [
    'Too many requests came in a short time.',
    'Wait a minute, then try again. If it happens again, the supplier must send fewer requests.',
  ],
  server_error: ['The service failed. The cause is on our side.', 'Report the reference to the operator.'],
  temporarily_unavailable: [
    'Part of the service was not available at that moment.',
    'Try again. If it happens again, report the reference to the operator.',
  ],
  document_not_ready: ['The order document was still being prepared.', 'Wait a moment, then open it again.'],
};

const tokenReasons: Readonly<Record<Exclude<TokenReason, RefusalCode>, Row>> = {
  not_a_form: ['The token request was not a form.', askBoth],
  body_too_large: ['The token request was too large.', askBoth],
  request_too_large: ['The application prepared a request that was too large.', askPartner],
  repeated_parameter: ['The token request had a parameter twice.', askBoth],
  two_authentications: ['The application sent two kinds of credentials.', askBoth],
  no_authentication: ['The application sent no credentials.', checkCredentials],
  malformed_authorization: ['The credentials of the application could not be read.', checkCredentials],
  unknown_client: ['The client id is not registered in this realm.', checkCredentials],
  wrong_secret: ['The secret of the application is wrong.', checkCredentials],
  expired_secret: [
    'The secret of the application has expired.',
    'Ask the operator to issue a new secret, and the supplier to use it.',
  ],
  wrong_certificate: [
    'The certificate of the application is not registered.',
    'Ask the supplier to use the registered certificate, or the operator to register the new one.',
  ],
  wrong_assertion: ['The signature of the application is not valid.', checkCredentials],
  wrong_assertion_type: ['The application sent the wrong type of credentials.', askBoth],
  faulty_assertion: ['The signed credentials of the application are not complete.', askBoth],
  assertion_of_other_client: ['The credentials belong to another application.', checkCredentials],
  assertion_for_other_audience: ['The credentials are for another service.', askBoth],
  assertion_out_of_time: [
    'The signed credentials had expired or were not valid yet.',
    'Ask the supplier to check the clock of their server, and to make a new signature for each request.',
  ],
  used_assertion: ['The signed credentials were used before.', askBoth],
  grant_not_offered: ['This realm does not offer tokens of this kind.', askBoth],
  unknown_partner: ['The client id is not a partner application of this realm.', askPartner],
  partner_with_secret: [
    'A partner application sent a secret, but partner applications have none.',
    askPartner,
  ],
  malformed_code_verifier: ['The code verifier has the wrong form.', askPartner],
  unknown_code: [
    'The code is unknown or has expired. A code must be exchanged within seconds.',
    startFromHost,
  ],
  used_code: ['The code was used before, so the launch was ended.', startFromHost],
  code_of_other_client: ['The code belongs to another application.', startFromHost],
  code_mismatch: ['The client id, redirect address or code verifier does not match the code.', askPartner],
  unknown_refresh_token: ['The session of the application had ended.', startFromHost],
  used_refresh_token: ['A refresh token was used twice, so the launch was ended.', startFromHost],
  refresh_token_of_other_client: ['The refresh token belongs to another application.', startFromHost],
  token_of_other_client: ['The token belongs to another application.', askBoth],
  used_dpop_proof: ['The proof of the key was used before.', askPartner],
  missing_dpop_proof: ['The application did not prove that it holds its key, which is required.', askPartner],
  missing_certificate: ['The application did not connect with its certificate, which is required.', askBoth],
  ticket_of_other_certificate: ['The token was issued for another certificate.', askPartner],
  ticket_of_other_key: ['The token was issued for another key.', askPartner],
  scope_beyond_grant: ['The application asked for more access than the launch gave it.', askPartner],
  wrong_scope: ['The application asked for access by a name that does not exist.', askBoth],
};

const desktopReasons: Readonly<Record<AuthorizeReason | RevocationReason, Row>> = {
  faulty_parameters: ['The application asked to sign in with parameters that are not valid.', askPartner],
  unknown_launch: ['The launch is unknown or has expired.', startFromHost],
  used_launch: ['The launch had already been opened.', startFromHost],
  launch_of_other_client: ['The launch is for another application.', startFromHost],
  unpushed_request: ['The application did not prepare its request first, which is required.', askPartner],
  sign_in_too_old: ['The user signed in too long ago for the application.', signInAgain],
  sign_in_time_unknown: [
    'The application requires a recent sign-in, but the host application did not send the time of the sign-in.',
    'This is for the supplier of the host application. Give them the reference.',
  ],
  acr_unmet: ['The user signed in with a weaker method than the application requires.', signInStronger],
  unknown_request_uri: ['The prepared request is unknown or has expired.', startFromHost],
  used_request_uri: ['The prepared request was used before.', startFromHost],
  request_uri_of_other_client: ['The prepared request belongs to another application.', askPartner],
  code_replayed: [
    'A code was sent a second time, so it may have been stolen. The launch was ended.',
    'Start again from the host application. If it happens again, report it as a security incident.',
  ],
  code_guessed: [
    'A code was sent with the wrong verifier too often. The launch was ended.',
    'Start again from the host application. If it happens again, report it as a security incident.',
  ],
  refresh_token_replayed: [
    'A refresh token was sent a second time, so it may have been stolen. The launch was ended.',
    'Start again from the host application. If it happens again, report it as a security incident.',
  ],
  revoked_by_client: ['The application ended the launch.', 'Nothing to do: this is a sign-out.'],
  ended_by_host: ['The host application ended the launch.', 'Nothing to do: the record was closed.'],
  ended_by_operator: [
    'An operator ended the launch.',
    'Ask the operator for the reason before the user starts again.',
  ],
};

const receiver =
  'Ask the supplier to check the address of the receiver. Then ask the operator to send the message again.';

const deliveryReasons: Readonly<Record<DocumentFailure, Row>> = {
  unregistered: [
    'The registry no longer contains an address for the receiver.',
    'Ask the operator to register the address and send the message again.',
  ],
  no_usable_secret: [
    'No secret of the receiver is valid, so the message could not be signed.',
    'Ask the operator to renew the secret and send the message again.',
  ],
  unresolved: ['The name of the receiver’s address is unknown.', receiver],
  address_refused: ['The receiver’s address is in a network that may not be called.', receiver],
  insecure_address: ['The receiver’s address is not https.', receiver],
  unreachable: ['The receiver could not be reached.', receiver],
  untrusted_certificate: ['The receiver’s certificate is not trusted.', receiver],
  timeout: ['The receiver did not answer in time.', receiver],
  bad_answer: ['The receiver’s answer could not be read.', receiver],
  redirected: ['The receiver’s address redirects to another address. Redirects are not followed.', receiver],
  not_accepted: ['The receiver did not accept the message.', receiver],
  gone: [
    'The receiver no longer accepts messages at this address.',
    'Ask the supplier for a new address, and the operator to register it.',
  ],
};

/** The reasons that have another meaning in one type of event. */
const byType: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'access.token.refused.v1': {
    missing_parameter: ['A parameter of the token request was missing.', askBoth],
  },
  'desktop.launch.refused.v1': {
    missing_parameter: ['A parameter of the request was missing.', askBoth],
    invalid_payload: ['The host application sent details of the launch that are not valid.', askBoth],
  },
};

const words = new Map<string, Row>(
  [codes, tokenReasons, desktopReasons, deliveryReasons].flatMap((group) => Object.entries(group)),
);

/** Returns the explanation of a reason in a type of event, or undefined for an unknown reason. */
export function faultWordsOf(reason: string, type = ''): FaultWords | undefined {
  const [cause, advice] = byType[type]?.[reason] ?? words.get(reason) ?? [];
  return cause === undefined || advice === undefined ? undefined : { cause, advice };
}

/** Returns the explanation of a refusal or failure. If the reason is unknown, the explanation is general. */
export const getFaultWords = ({ reason, type }: { reason: string | null; type: string }): FaultWords =>
  faultWordsOf(reason ?? '', type) ?? {
    cause: `The request was refused (${reason ?? 'without a reason'}).`,
    advice: 'Report the reference to the operator.',
  };
