import {
  createEvent,
  createServiceRequestReader,
  type Fault,
  type LaunchContext,
  type LaunchRequest,
  maxFaults,
} from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import {
  type AccessTokenVerifier,
  assertRight,
  type Call,
  type Caller,
  callOf,
  type RateLimiter,
  readJson,
  ServiceError,
} from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { Request, RequestHandler, Response } from 'express';
import type { LaunchApiConfig } from '../config.ts';
import { challengeMethodFault, chooseCodeChallenge } from '../domain/code-challenge.ts';
import { originatingIdClaim } from '../domain/originating-id.ts';

const source = '/launch-api';
const requiredRight = 'ocs-launch.write';
const daySeconds = 86_400;

export type RequestLaunchUrlBacking = {
  readonly tickets: Tickets;
  readonly events: Outbox;
  readonly tokens: AccessTokenVerifier;
  readonly limiter: RateLimiter;
};

/** Who called, for the audit event of a request that is refused after its token was verified. */
const callers = new WeakMap<Response, Caller>();

/**
 * `POST /AccessApi/RequestLaunchUrl` (OLTR: Endpoints). Refusals in this order: 429, 401, 403, 413 or 415, 400, 409.
 * The launch token, the caller's identifier and the audit event are kept in one step.
 */
export function requestLaunchUrl(config: LaunchApiConfig, backing: RequestLaunchUrlBacking): RequestHandler {
  const { tickets, tokens, limiter } = backing;
  const readServiceRequest = createServiceRequestReader(config.namespaces);
  const body = { types: ['application/json', 'application/fhir+json'], limitBytes: config.maxPayloadBytes };

  return async (request, response) => {
    limiter.count(`address ${request.ip}`, config.requestsPerSecondPerAddress);
    const caller = await tokens.verify(request.get('authorization'));
    callers.set(response, caller);
    limiter.count(`client ${caller.issuer} ${caller.clientId}`, caller.policy.requestsPerSecond);
    assertRight(caller, requiredRight);

    const payload = await readJson(request, response, body);
    const { challenge, launch } = validate(payload, request, readServiceRequest);

    const issue = await tickets.issue('launch-token', {
      context: launchContext(callOf(response), caller, launch),
      challenge,
      ttlSeconds: config.launchTokenSeconds,
      claim: originatingIdClaim(caller, launch, config.originatingIdRetentionDays * daySeconds),
      correlationId: callOf(response).correlationId,
      events: [
        createEvent('launch.url.issued.v1', callOf(response).origin(source), {
          issuer: caller.issuer,
          clientId: caller.clientId,
          action: launch.action,
          ttlSeconds: config.launchTokenSeconds,
        }),
      ],
    });
    if (issue.outcome === 'claimed') throw identifierUsed();
    response
      .set('Cache-Control', 'no-store')
      .json({ url: `${config.oltrServer}/secureLaunch?launchToken=${issue.ticket}` });
  };
}

/** Writes `launch.url.refused.v1`; a 429 is only logged, so that a flood does not become a flood of events. */
export function auditRefusal(events: Outbox) {
  return async (error: ServiceError, call: Call, response: Response): Promise<void> => {
    if (error.status === 429) return;
    const caller = callers.get(response);
    const refused = createEvent('launch.url.refused.v1', call.origin(source), {
      status: error.status,
      reason: error.code,
      ...(caller === undefined ? {} : { issuer: caller.issuer, clientId: caller.clientId }),
      ...(error.faults.length === 0 ? {} : { paths: error.faults.map(({ path }) => path) }),
    });
    await events.append([refused]);
  };
}

/** Finds every fault of payload and challenge, so that one answer tells them all. @throws ServiceError 400. */
function validate(
  payload: unknown,
  request: Request,
  readServiceRequest: ReturnType<typeof createServiceRequestReader>,
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
    message: 'The request has faults: mend what `errors` names and send it again',
    faults: faults.slice(0, maxFaults),
  });
}

const challengeNames = {
  headers: ['code-challenge', 'x-code-challenge', 'codechallenge'],
  fields: ['codeChallenge', 'code_challenge'],
};
const challengeMethodNames = { headers: [], fields: ['codeChallengeMethod', 'code_challenge_method'] };

/** Looks up every value that was sent under some names: headers (a repeated one is a list), query, body. */
function sentValuesOf(request: Request, payload: unknown) {
  const query = new URL(request.originalUrl, 'http://query').searchParams;
  const members =
    typeof payload === 'object' && payload !== null ? new Map(Object.entries(payload)) : new Map();
  return ({ headers, fields }: { headers: string[]; fields: string[] }): unknown[] => {
    const sent = [
      ...headers.flatMap((name) => request.get(name)?.split(', ') ?? []),
      ...fields.flatMap((name) => query.getAll(name)),
      ...fields.map((name) => members.get(name)),
    ];
    return sent.filter((value) => value !== undefined && value !== '');
  };
}

function launchContext(
  call: Call,
  { issuer, clientId, policy }: Caller,
  request: LaunchRequest,
): LaunchContext {
  return {
    launchId: call.correlationId,
    client: {
      issuer,
      clientId,
      frameAncestors: policy.frameAncestors ?? [],
      ...(policy.resultOrigin === undefined ? {} : { resultOrigin: policy.resultOrigin }),
    },
    request,
  };
}

const identifierUsed = () =>
  new ServiceError({
    status: 409,
    code: 'identifier_used',
    message: "The caller's identifier was used before",
  });
