import { ServiceError } from '@clinical-launch/http/errors';
import type { ParameterFault } from './domain/authorization-request.ts';

/** Prefetches and previews must not use up a single-use identifier. */
export function speculativeRequest(): ServiceError {
  return new ServiceError({
    status: 400,
    code: 'invalid_request',
    message: 'A prefetch or preview cannot start a launch',
  });
}

/** Why an authorization request is refused; the reason is for the audit trail. */
const launchRefusals = {
  faulty_parameters: { code: 'invalid_request', message: 'The request is invalid' },
  unknown_launch: deadLaunch(),
  used_launch: deadLaunch(),
  launch_of_other_client: deadLaunch(),
  // RFC 9126 section 4
  unpushed_request: {
    code: 'invalid_request',
    message:
      'This application must push its authorization requests. Use pushed_authorization_request_endpoint of the discovery document',
  },
  unknown_request_uri: deadRequestUri(),
  used_request_uri: deadRequestUri(),
  request_uri_of_other_client: deadRequestUri(),
} as const;

/** A refused authorization request: always answered directly, never by a redirect. */
export class AuthorizeRefusal extends ServiceError {
  readonly reason: keyof typeof launchRefusals;
  /** The names of the invalid parameters. */
  readonly parameters: readonly string[];

  constructor(reason: keyof typeof launchRefusals, faults: readonly ParameterFault[] = []) {
    const sentence = faults.map(({ name, message }) => `The parameter ${name} ${message}`).join('. ');
    const { code, message } = launchRefusals[reason];
    super({ status: 400, code: faults[0]?.code ?? code, message: sentence === '' ? message : sentence });
    this.reason = reason;
    this.parameters = faults.map(({ name }) => name);
  }
}

/**
 * Answers alike for an identifier that never existed, was used, or belongs to another application, so that an
 * attacker who guesses or replays learns nothing.
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
