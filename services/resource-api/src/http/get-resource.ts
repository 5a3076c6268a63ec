import { createEvent, type Sealer } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import {
  type AccessTokenVerifier,
  type Call,
  type Caller,
  callOf,
  invalidToken,
  type RateLimiter,
  ServiceError,
} from '@clinical-launch/service';
import type { RequestHandler, Response } from 'express';
import type { ResourceApiConfig } from '../config.ts';
import { launchOfToken, openContext } from '../domain/launch-of-token.ts';
import type { Resource } from '../domain/resources.ts';
import type { Revocations } from '../store/revocations.ts';

const source = '/resource-api';

type GetResourceBacking = {
  readonly tokens: AccessTokenVerifier;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly events: Outbox;
  readonly revocations: Revocations;
  readonly limiter: RateLimiter;
};

/** Who called, for the audit event of a request that is refused after its token was verified. */
const callers = new WeakMap<Response, Caller>();

/**
 * `GET /resource/{name}` (desktop launch: Resource API calls). Refusals in this order: 429, 401 (the token, its launch,
 * its revocation), 403 (permission). The reading is audited before it is answered.
 */
export function getResource(
  resource: Resource,
  config: ResourceApiConfig,
  { tokens, revocations, limiter, sealer, events }: GetResourceBacking,
): RequestHandler {
  return async (request, response) => {
    limiter.count(`address ${request.ip}`, config.requestsPerSecondPerAddress);
    const caller = await tokens.verify(request.get('authorization'));
    callers.set(response, caller);
    limiter.count(`client ${caller.issuer} ${caller.clientId}`, caller.policy.requestsPerSecond);
    const launch = launchOfToken(caller);
    const call = callOf(response);
    call.adopt(launch.correlationId);
    if (await revocations.has(launch.correlationId)) throw invalidToken('the launch was revoked');
    assertPermission(launch.authorizations, resource.permission);
    const representation = resource.represent(openContext(launch, sealer), launch);
    const { issuer, clientId } = caller;
    const read = { issuer, clientId, tokenId: launch.tokenId, resource: resource.name };
    await events.append([createEvent('resource.read.v1', call.origin(source), read)]);
    response.set('Cache-Control', 'no-store').json(representation);
  };
}

/** RFC 6750 section 3.1: a refresh or another token of this user does not help, so no scope is named. */
function assertPermission(authorizations: readonly string[], permission: string | undefined): void {
  if (permission === undefined || authorizations.includes(permission)) return;
  throw new ServiceError({
    status: 403,
    code: 'insufficient_scope',
    message: `The user does not hold the permission ${permission}`,
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
  });
}

/** Writes `resource.refused.v1`; a 429 is only logged, so that a flood does not become a flood of events. */
export function auditRefusal(events: Outbox, resource: Resource) {
  return async ({ status, code }: ServiceError, call: Call, response: Response): Promise<void> => {
    if (status === 429 || status === 405) return;
    const caller = callers.get(response);
    const refused = createEvent('resource.refused.v1', call.origin(source), {
      status,
      reason: code,
      resource: resource.name,
      ...(caller === undefined ? {} : { issuer: caller.issuer, clientId: caller.clientId }),
    });
    await events.append([refused]);
  };
}
