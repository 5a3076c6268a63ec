/** Lists the errors that each operation of the OpenAPI documents can answer, with an example of each. */
import { type RefusalCode, refusalCodes, refusals } from '@clinical-launch/contracts/refusals/codes';
import type { DescribedAnswer, DescribedAnswers } from '@clinical-launch/http/openapi/answers';
import type { OAuthError, Problem } from '@clinical-launch/http/openapi/error-schemas';
import { operationOutcome } from '@clinical-launch/http/operation-outcome';
import { refusalWords } from './errors.ts';

const every = /./;
const withToken =
  /^(requestLaunchUrl|validate|issue|end|introspect|getMe$|getPatient$|getUserInfo|read|search|list)/;
const withJson = /^(requestLaunchUrl|validate|issueLaunch|endLaunches)$/;
const withForm = /^(requestToken|revoke|introspect|authorize$|push|list)/;
const authorization = /^(authorize|push)/;
const launchUrl = /^(open|post)LaunchUrl$/;

/**
 * For each code, the pattern of the ids of the operations that answer it, or one pattern for each status. The
 * other codes are answered only by pages, and to requests that reach no operation. The contract tests compare
 * this table with the answers of the services.
 */
const answeredBy: Readonly<Partial<Record<RefusalCode, RegExp | Readonly<Record<number, RegExp>>>>> = {
  invalid_payload: /^(requestLaunchUrl|validate)$/,
  invalid_request: { 400: every, 413: withForm },
  invalid_request_uri: /^authorize/,
  login_required: authorization,
  request_not_supported: authorization,
  registration_not_supported: authorization,
  unmet_authentication_requirements: /^authorize/,
  invalid_scope: /^(requestToken|authorize|push)/,
  invalid_grant: /^(requestTokenInDesktopRealm|revoke)/,
  invalid_dpop_proof: {
    400: /^(requestTokenInDesktopRealm|push)/,
    401: /^(getMe$|getPatient$|getUserInfo|read|search)/,
  },
  unauthorized_client: authorization,
  unsupported_response_type: authorization,
  unsupported_grant_type: /^requestToken/,
  speculative_request: { 401: launchUrl },
  invalid_client: {
    400: /^(requestToken|revokeToken)InDesktopRealm$|^push/,
    401: /^(requestToken|revoke|push)/,
  },
  invalid_token: withToken,
  missing_parameter: launchUrl,
  unreadable_form: /^postLaunchUrl$/,
  token_unknown: launchUrl,
  verifier_mismatch: launchUrl,
  navigation_required: launchUrl,
  insufficient_scope: every,
  not_found: every,
  identifier_used: every,
  token_used: every,
  too_large: withJson,
  unsupported_media_type: every,
  too_many_requests: every,
  server_error: every,
  temporarily_unavailable: every,
};

export type ErrorAnswer = {
  readonly status: number;
  readonly code: RefusalCode;
  /** The status line, the headers and the body of an example. */
  readonly example: string;
};

/** Returns the errors that an operation can answer, by status. */
export function errorAnswersOf(operationId: string, responses: DescribedAnswers): readonly ErrorAnswer[] {
  return Object.entries(responses).flatMap(([name, answer]) => {
    // The services answer 500 to the failures that `default` describes.
    const status = name === 'default' ? 500 : Number(name);
    return refusalCodes
      .filter((code) => {
        const where = answeredBy[code];
        const pattern = where instanceof RegExp ? where : where?.[status];
        return refusals[code].some((one) => one === status) && pattern?.test(operationId) === true;
      })
      .map((code) => ({ status, code, example: exampleOf(status, code, answer) }));
  });
}

const correlationId = '1b9f2c4e-0a7d-4f0e-9c55-3f6d2a8b7e10';

function exampleOf(status: number, code: RefusalCode, { headers = {}, content = {} }: DescribedAnswer) {
  const values: Readonly<Record<string, string>> = {
    'X-Correlation-Id': correlationId,
    'Retry-After': '5',
    // The launch gateway does not reveal whether a launch token is live.
    'Launch-Refusal': status === 401 && code !== 'missing_parameter' ? 'not_valid' : code,
    'WWW-Authenticate': challengeOf(code),
  };
  const [type] = Object.keys(content);
  return [
    `HTTP/1.1 ${status}`,
    ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ...Object.keys(headers).flatMap((name) =>
      values[name] === undefined ? [] : [`${name}: ${values[name]}`],
    ),
    ...(type === undefined ? [] : ['', JSON.stringify(bodyOf(type, status, code), undefined, 2)]),
  ].join('\n');
}

function challengeOf(code: RefusalCode): string {
  switch (code) {
    case 'invalid_client':
      return 'Basic realm="demo"';
    case 'invalid_dpop_proof':
      return 'DPoP error="invalid_dpop_proof", algs="ES256"';
    default:
      return 'Bearer error="invalid_token", error_description="the token has expired"';
  }
}

/** Returns the body of an example in the format of its media type. Its message is the cause of the error. */
function bodyOf(type: string, status: number, code: RefusalCode): object {
  const message = refusalWords[code][0].replaceAll('`', '');
  if (type === 'application/fhir+json')
    return operationOutcome({ status, message, faults: [] }, correlationId);
  if (type === 'application/json')
    return { error: code, error_description: message, correlation_id: correlationId } satisfies OAuthError;
  const fault = { path: 'contained[1].birthDate', message: 'is required', code: 'required' } as const;
  return {
    type: 'about:blank',
    title: message,
    status,
    correlationId,
    ...(status === 400 ? { errors: [fault] } : {}),
  } satisfies Problem;
}
