import {
  createServiceRequestReader,
  type Fault,
  type LaunchRequest,
  maxFaults,
  type ServiceRequestReading,
} from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import {
  authorizationOf,
  type Exchange,
  type LocalRateLimiter,
  queryOf,
  type RateLimiter,
  type RefusalAudit,
  readJson,
  ServiceError,
} from '@clinical-launch/service/http';
import {
  type AccessTokenVerifier,
  assertRight,
  type Caller,
  clientCertificateOf,
  type Directories,
} from '@clinical-launch/service/trust';
import type { Request } from 'express';
import type { LaunchApiConfig } from '../config.ts';
import { challengeMethodFault, chooseCodeChallenge } from '../domain/code-challenge.ts';

export const requiredRight = 'ocs-launch.write';
export const payloadTypes = ['application/json', 'application/fhir+json'];

export type LaunchCheckBacking = {
  readonly tokens: AccessTokenVerifier;
  /** By client, for all replicas. */
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  /** By address, in this process: what is shared about strangers must be bounded. */
  readonly addresses: LocalRateLimiter;
  /** The values that were agreed; without it every value is accepted. */
  readonly directories?: Directories | undefined;
};

/** What a request asks for, once nothing is wrong with it. */
export type CheckedLaunch = {
  readonly caller: Caller;
  readonly challenge: string;
  readonly launch: LaunchRequest;
};

/** @throws ServiceError for what is refused, in this order: 429, 401, 403, 413 or 415, 400 */
export type LaunchCheck = (exchange: LaunchExchange) => Promise<CheckedLaunch>;

/** A request for a launch; its caller is known once the token is verified. */
export type LaunchExchange = Exchange<{ readonly caller: Caller }>;

/** Creates the checks of a request for a launch (OLTR: Endpoints). They use nothing up but the limits. */
export function createLaunchCheck(
  config: LaunchApiConfig,
  { tokens, limiter, clock, addresses, directories }: LaunchCheckBacking,
): LaunchCheck {
  const readServiceRequest = createServiceRequestReader(config.namespaces, clock, config.identifierCheck);
  const body = { types: payloadTypes, limitBytes: config.maxPayloadBytes };

  return async ({ request, response, call, found }) => {
    countAddress(config, addresses, request);
    const caller = await tokens.verify(authorizationOf(request), {
      clientCertificate: () => clientCertificateOf(request, config.clientCertificateHeader),
    });
    found.caller = caller;
    call.identify(`client ${caller.issuer} ${caller.clientId}`);
    await limiter.count(`launch ${caller.issuer} ${caller.clientId}`, caller.policy.requestsPerSecond);
    assertRight(caller, requiredRight);

    const payload = await readJson(request, response, body);
    const directory = directories?.of(caller.policy);
    const read = (sent: unknown) => readServiceRequest(sent, caller.practices, directory);
    return { caller, ...validate(payload, request, read) };
  };
}

/** Counts a request by its address, whatever it is for. @throws ServiceError 429 */
export function countAddress(
  { requestsPerSecondPerAddress }: LaunchApiConfig,
  addresses: LocalRateLimiter,
  request: Request,
): void {
  addresses.count(`address ${request.ip}`, requestsPerSecondPerAddress);
}

/** Makes `launch.url.refused.v1`; `step` tells a refused check from a launch URL that was refused. */
export function auditRefusal(step?: 'validate'): RefusalAudit<{ readonly caller: Caller }> {
  return (error, { call, found: { caller } }) =>
    call.event('launch.url.refused.v1', {
      status: error.status,
      reason: error.code,
      ...(step === undefined ? {} : { step }),
      ...(caller === undefined ? {} : { issuer: caller.issuer, clientId: caller.clientId }),
      ...(error.faults.length === 0 ? {} : { paths: error.faults.map(({ path }) => path) }),
    });
}

/** Finds every fault of payload and challenge, so that one answer tells them all. @throws ServiceError 400. */
function validate(
  payload: unknown,
  request: Request,
  readServiceRequest: (payload: unknown) => ServiceRequestReading,
): { challenge: string; launch: LaunchRequest } {
  const read = readServiceRequest(payload);
  const sentValues = sentValuesOf(request, payload);
  const chosen = chooseCodeChallenge(sentValues(challengeNames));
  const methodFaults = challengeMethodFault(sentValues(challengeMethodNames));
  if ('request' in read && 'challenge' in chosen && methodFaults.length === 0) {
    return { launch: read.request, challenge: chosen.challenge };
  }
  const faults: Fault[] = [
    ...('fault' in chosen ? [chosen.fault] : []),
    ...methodFaults,
    ...('faults' in read ? read.faults : []),
  ];
  throw new ServiceError({
    status: 400,
    code: 'invalid_payload',
    message: 'The request is invalid. Correct the fields listed in `errors` and send it again.',
    faults: faults.slice(0, maxFaults),
  });
}

/** Where the code challenge may be; the first header is the one to use. */
export const challengeNames = {
  headers: ['code-challenge', 'x-code-challenge', 'codechallenge'],
  fields: ['codeChallenge', 'code_challenge'],
};
const challengeMethodNames = { headers: [], fields: ['codeChallengeMethod', 'code_challenge_method'] };

/** Looks up every value that was sent under some names: headers (a repeated one is a list), query, body. */
function sentValuesOf(request: Request, payload: unknown) {
  const query = queryOf(request);
  const memberOf = (name: string): unknown =>
    typeof payload === 'object' && payload !== null
      ? Object.getOwnPropertyDescriptor(payload, name)?.value
      : undefined;
  return ({ headers, fields }: { headers: string[]; fields: string[] }): unknown[] => {
    const sent = [
      ...headers.flatMap((name) => request.get(name)?.split(', ') ?? []),
      ...fields.flatMap((name) => query.getAll(name)),
      ...fields.map(memberOf),
    ];
    return sent.filter((value) => value !== undefined && value !== '');
  };
}
