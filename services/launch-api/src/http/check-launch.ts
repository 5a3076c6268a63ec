import type { IncomingMessage } from 'node:http';
import { isPracticeEditor } from '@clinical-launch/contracts/directory';
import { type Fault, faultPlaces } from '@clinical-launch/contracts/fault';
import {
  createServiceRequestReader,
  type ServiceRequestReading,
} from '@clinical-launch/contracts/fhir/service-request-reader';
import { isCodeChallenge } from '@clinical-launch/contracts/formats';
import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { maxFaults, withoutUndefined } from '@clinical-launch/contracts/schema';
import { concerningLaunch } from '@clinical-launch/crypto/patient-pseudonym';
import { readJson } from '@clinical-launch/http/body';
import {
  behind,
  type Exchange,
  type Handler,
  type RefusalAudit,
  type Refused,
} from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { authorizationOf, queryOf } from '@clinical-launch/http/request-target';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Clock } from '@clinical-launch/runtime/clock';
import { type AccessTokenVerifier, assertRight, type Caller } from '@clinical-launch/trust/access-tokens';
import type { Directories } from '@clinical-launch/trust/directory-file';
import { clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import type { LaunchApiConfig } from '../config.ts';

/** The paths of the launch API, as callers write them. */
export const addresses = {
  requestLaunchUrl: '/AccessApi/RequestLaunchUrl',
  validate: '/AccessApi/Validate',
  document: '/AccessApi/openapi.json',
  payloadSchema: '/AccessApi/schemas/service-request.json',
  orderSchema: '/AccessApi/schemas/order.xsd',
} as const;

export const requiredRight = 'ocs-launch.write';
export const payloadTypes = ['application/json', 'application/fhir+json'];
/** The size limit of a payload, about sixty times the largest sample. */
export const maxPayloadBytes = 262_144;

export type LaunchCheckDependencies = {
  readonly tokens: AccessTokenVerifier;
  /** Limits the requests of each client across all replicas. */
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  /** The lists of agreed values. If absent, every value is accepted. */
  readonly directories?: Directories | undefined;
};

/** A request for a launch URL from a verified caller. */
export type CallerExchange = Exchange & { readonly caller: Caller };

/** A refused request for a launch URL. Its caller is known if the token was verified. */
export type LaunchRefused = Refused<CallerExchange>;

/** A valid request for a launch URL. */
export type LaunchExchange = CallerExchange & {
  readonly challenge: string;
  readonly launch: LaunchRequest;
  /**
   * Whether the author may change the practice's favourites and order sets. Absent if no editors are listed.
   */
  readonly isPracticeEditor?: boolean;
};

/**
 * Guards a handler with the checks of a request for a launch URL (OLTR: Endpoints). A checked request counts
 * towards the rate limit, but leaves the originating id (IdByCaller) usable. The checks throw ServiceError in
 * this order: 401, 429, 403, 413 or 415, 400.
 */
export function behindLaunchCheck(
  config: LaunchApiConfig,
  { tokens, limiter, clock, directories }: LaunchCheckDependencies,
): (handle: Handler<LaunchExchange>) => Handler {
  const readServiceRequest = createServiceRequestReader(config.namespaces, clock, config.identifierCheck);
  const body = { types: payloadTypes, limitBytes: maxPayloadBytes };

  const verifyCaller = async (exchange: Exchange): Promise<CallerExchange> => {
    const { request, call } = exchange;
    const caller = await tokens.verify(authorizationOf(request), {
      clientCertificate: () => clientCertificateOf(request, config.clientCertificateHeader),
    });
    call.identify(`client ${caller.issuer} ${caller.clientId}`, caller.clientId);
    return { ...exchange, caller };
  };

  const readLaunch = async (exchange: CallerExchange): Promise<LaunchExchange> => {
    const { request, call, caller } = exchange;
    await limiter.count(`launch ${caller.issuer} ${caller.clientId}`, caller.policy.requestsPerSecond);
    assertRight(caller, requiredRight);
    const payload = await readJson(exchange, body);
    const directory = directories?.of(caller.policy);
    const { practices, policy } = caller;
    const { acrValues, sandbox } = policy;
    const reading = readServiceRequest(payload, { practices, directory, acrValues, sandbox });
    call.concern(
      concerningLaunch('request' in reading ? reading.request : reading.parties, config.pseudonyms),
    );
    const checked = validate(payload, request, reading);
    const isEditor = directory && isPracticeEditor(directory, checked.launch);
    return { ...exchange, ...checked, ...withoutUndefined({ isPracticeEditor: isEditor }) };
  };

  return (handle) => behind(verifyCaller, behind(readLaunch, handle));
}

/** Creates the event `launch.url.refused.v1`. `step` is absent for a refusal by RequestLaunchUrl. */
export function auditRefusal(step?: 'validate'): RefusalAudit<CallerExchange> {
  return (error, { call, caller }) =>
    call.event('launch.url.refused.v1', {
      status: error.status,
      reason: error.code,
      ...withoutUndefined({ step, issuer: caller?.issuer, clientId: caller?.clientId }),
      ...faultPlaces(error.faults),
    });
}

/**
 * Validates the payload and the challenge.
 * @throws ServiceError 400 with up to `maxFaults` faults of the challenge and of the payload
 */
function validate(
  payload: unknown,
  request: IncomingMessage,
  read: ServiceRequestReading,
): { challenge: string; launch: LaunchRequest } {
  const sentValues = sentValuesOf(request, payload);
  const chosen = chooseCodeChallenge(sentValues(challengeNames));
  // The method `plain` would send the verifier itself (RFC 7636 section 4.3).
  const isOtherMethod = sentValues(challengeMethodNames).some((method) => method !== 'S256');
  if ('request' in read && 'challenge' in chosen && !isOtherMethod) {
    return { launch: read.request, challenge: chosen.challenge };
  }
  const faults: Fault[] = [
    ...('fault' in chosen ? [chosen.fault] : []),
    ...(isOtherMethod ? [methodFault] : []),
    ...('faults' in read ? read.faults : []),
  ];
  throw new ServiceError({
    code: 'invalid_payload',
    message: 'The request is invalid. Correct the fields listed in `errors` and send it again.',
    faults: faults.slice(0, maxFaults),
  });
}

/**
 * The headers and fields that may contain the code challenge. The specification names none of them. The
 * documentation recommends the first header.
 */
export const challengeNames = {
  headers: ['code-challenge', 'x-code-challenge', 'codechallenge'],
  fields: ['codeChallenge', 'code_challenge'],
};
const challengePath = 'Code-Challenge';
const challengeMethodNames = { headers: [], fields: ['codeChallengeMethod', 'code_challenge_method'] };

/**
 * Returns a function that reads all sent values of the named headers, query fields and body members. The
 * values of a repeated header are separated by commas.
 */
function sentValuesOf(request: IncomingMessage, payload: unknown) {
  const query = queryOf(request);
  const memberOf = (name: string): unknown =>
    typeof payload === 'object' && payload !== null
      ? Object.getOwnPropertyDescriptor(payload, name)?.value
      : undefined;
  return ({ headers, fields }: { headers: string[]; fields: string[] }): unknown[] => {
    const sent = [
      ...headers.flatMap((name) => request.headers[name] ?? []).flatMap((value) => value.split(', ')),
      ...fields.flatMap((name) => query.getAll(name)),
      ...fields.map(memberOf),
    ];
    return sent.filter((value) => value !== undefined && value !== '');
  };
}

/**
 * Returns the code challenge (RFC 7636 section 4.2, S256) from the sent values.
 * @returns the challenge, or a fault if it is missing, was sent with different values, or is not a SHA-256 in
 * Base64URL
 */
function chooseCodeChallenge(sent: readonly unknown[]): { challenge: string } | { fault: Fault } {
  const refused = (message: string, code: Fault['code']) => ({
    fault: { path: challengePath, message, code },
  });
  const [challenge, ...others] = new Set(sent);
  if (challenge === undefined)
    return refused('is required. Send the PKCE code challenge in this header', 'required');
  if (others.length > 0)
    return refused('was sent more than once, with different values. Send one value', 'duplicate');
  return typeof challenge === 'string' && isCodeChallenge(challenge)
    ? { challenge }
    : refused('must be the SHA-256 of the verifier in Base64URL: 43 characters without padding', 'value');
}

const methodFault: Fault = { path: 'code_challenge_method', message: 'must be S256', code: 'code-invalid' };
