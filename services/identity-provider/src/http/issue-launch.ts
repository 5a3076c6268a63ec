import {
  createEvent,
  type DesktopContext,
  type DesktopLaunch,
  readDesktopLaunch,
} from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import {
  type AccessTokenVerifier,
  type Call,
  type Caller,
  type Clock,
  callOf,
  type RateLimiter,
  readJson,
  ServiceError,
} from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { Request, RequestHandler, Response } from 'express';
import type { LaunchCaller } from '../call-launch-url.ts';
import { isCallable, withParameters } from '../domain/addresses.ts';
import { launchProof } from '../domain/desktop-chain.ts';
import type { DesktopIssuingRealm, Realms } from '../domain/realms.ts';
import { eventSource } from '../event-source.ts';
import { askerOf } from './asker.ts';
import { assertOurRight } from './our-token.ts';
import { desktopRealmOfPath, type RealmParams } from './realm-of-path.ts';

const requiredRight = 'launch.issue';
const body = { types: ['application/json'], limitBytes: 32 * 1024 };

export type IssueLaunchParts = {
  readonly realms: Realms;
  readonly tickets: Tickets;
  readonly tokens: AccessTokenVerifier;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  readonly isProduction: boolean;
  readonly callLaunchUrl: LaunchCaller;
};

/** Which host application asked, for the audit event of a refusal. */
const hosts = new WeakMap<Response, Caller>();

/**
 * `POST /{realm}/launches`: gives a host application a launch identifier for a partner application, bound to it, with the
 * user and the patient in context (Desktop: What the service does, steps 1 to 3). The host opens the launch URL, or the
 * service calls it when the host says so.
 */
export function issueLaunch(parts: IssueLaunchParts): RequestHandler<RealmParams> {
  const { realms, tickets, clock, callLaunchUrl } = parts;
  return async (request, response) => {
    const realm = desktopRealmOfPath(realms, request.params);
    const host = await authenticateHost(parts, request, response);
    const launch = validate(await readJson(request, response, body), realm, parts);
    const call = callOf(response);
    const { launchIdentifierSeconds: ttlSeconds } = realm.desktop;
    const issue = await tickets.issue('launch-identifier', {
      context: launchContext({ launch, realm, call, now: clock.now() }),
      challenge: launchProof({ realm: realm.name, clientId: launch.client_id }),
      ttlSeconds,
      correlationId: call.correlationId,
      events: [issuedEvent({ launch, realm, host, call, ttlSeconds })],
    });
    if (issue.outcome === 'claimed') throw new TypeError('A launch identifier claims nothing');
    const registered = partnerOf(launch, realm).launchUrl;
    const launchUrl = withParameters(registered, { iss: realm.issuer, launch: issue.ticket });
    const called = launch.call === true ? { called: await callLaunchUrl(launchUrl, call) } : {};
    response.status(201).json({ launch: issue.ticket, launchUrl, expires_in: ttlSeconds, ...called });
  };
}

/** @throws ServiceError 401, 403 or 429 */
async function authenticateHost(
  { tokens, realms, limiter }: IssueLaunchParts,
  request: Request<RealmParams>,
  response: Response,
): Promise<Caller> {
  const host = await tokens.verify(request.get('authorization'));
  hosts.set(response, host);
  limiter.count(`host ${host.issuer} ${host.clientId}`, host.policy.requestsPerSecond);
  assertOurRight(host, requiredRight, realms);
  return host;
}

/** Every fault of the body at once, with those that only the registry tells. @throws ServiceError 400 */
function validate(
  sent: unknown,
  realm: DesktopIssuingRealm,
  { isProduction }: Pick<IssueLaunchParts, 'isProduction'>,
): DesktopLaunch {
  const read = readDesktopLaunch(sent);
  const { client_id: clientId, call } = { client_id: undefined, call: undefined, ...Object(sent) };
  const partner = realm.desktop.partners.get(String(clientId));
  const faults = [
    ...('faults' in read ? read.faults : []),
    ...(typeof clientId === 'string' && partner === undefined
      ? [{ path: 'client_id', message: 'names no partner application of this realm' }]
      : []),
    ...(call === true && partner !== undefined && !isCallable(partner.launchUrl, { isProduction })
      ? [{ path: 'call', message: 'is not possible: the host has to open this launchUrl' }]
      : []),
  ];
  if (faults.length === 0 && 'launch' in read) return read.launch;
  throw new ServiceError({
    status: 400,
    code: 'invalid_request',
    message: 'The launch has faults: mend what `errors` names and send it again',
    faults,
  });
}

function partnerOf({ client_id }: DesktopLaunch, realm: DesktopIssuingRealm) {
  const partner = realm.desktop.partners.get(client_id);
  if (partner === undefined) throw new TypeError('Validate the launch first');
  return partner;
}

function launchContext({
  launch: { client_id: clientId, call: _call, ...launched },
  realm,
  call,
  now,
}: {
  launch: DesktopLaunch;
  realm: DesktopIssuingRealm;
  call: Call;
  now: number;
}): DesktopContext {
  const launchId = call.correlationId;
  return { launchId, realm: realm.name, clientId, authTime: Math.floor(now / 1000), ...launched };
}

function issuedEvent({
  launch,
  realm,
  host,
  call,
  ttlSeconds,
}: {
  launch: DesktopLaunch;
  realm: DesktopIssuingRealm;
  host: Caller;
  call: Call;
  ttlSeconds: number;
}) {
  return createEvent('desktop.launch.issued.v1', call.origin(eventSource), {
    realm: realm.name,
    clientId: launch.client_id,
    issuer: host.issuer,
    hostClientId: host.clientId,
    opens: launch.call === true ? 'service' : 'host',
    ttlSeconds,
  });
}

/** Writes `desktop.launch.refused.v1`; a 429 is only logged, so that a flood does not become a flood of events. */
export function auditLaunchRefusal(events: Outbox) {
  return async (error: ServiceError, call: Call, response: Response): Promise<void> => {
    const asker = askerOf(response);
    if (asker === undefined || error.status === 429) return;
    const host = hosts.get(response);
    const refused = createEvent('desktop.launch.refused.v1', call.origin(eventSource), {
      realm: asker.realm,
      step: 'launches',
      status: error.status,
      reason: error.code,
      ...(host === undefined ? {} : { issuer: host.issuer, hostClientId: host.clientId }),
      ...(error.faults.length === 0 ? {} : { paths: error.faults.map(({ path }) => path) }),
    });
    await events.append([refused]);
  };
}
