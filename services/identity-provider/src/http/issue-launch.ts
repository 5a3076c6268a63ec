import { withParameters } from '@clinical-launch/contracts/addresses';
import { isAgreedPractice } from '@clinical-launch/contracts/coded-identifiers';
import {
  type DesktopContext,
  type DesktopLaunch,
  readDesktopLaunch,
  syntheticPatientFaults,
} from '@clinical-launch/contracts/desktop-context';
import { type Fault, faultPlaces } from '@clinical-launch/contracts/fault';
import type { RegisteredPartner } from '@clinical-launch/contracts/registry';
import { isOwnErn } from '@clinical-launch/contracts/resource-names';
import { maxFaults, memberOf, withoutUndefined } from '@clinical-launch/contracts/schema';
import { type SignIn, signInData, signInFaults } from '@clinical-launch/contracts/sign-in';
import { concerningDesktopLaunch, type PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { sendJson } from '@clinical-launch/http/answer';
import { readJson } from '@clinical-launch/http/body';
import type { Call } from '@clinical-launch/http/call';
import { behind, type Handler, type RefusalAudit } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { authorizationOf } from '@clinical-launch/http/request-target';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { type AccessTokenVerifier, assertRight, type Caller } from '@clinical-launch/trust/access-tokens';
import { clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import { isCallable } from '../domain/addresses.ts';
import type { LaunchAnswer } from '../domain/answers.ts';
import { launchOwner, launchProof } from '../domain/desktop-chain.ts';
import { labelsOf } from '../domain/launch-selection.ts';
import type { DesktopIssuingRealm } from '../domain/realms.ts';
import type { LaunchCaller } from './call-launch-url.ts';
import type { DesktopExchange } from './realm-guards.ts';

export const hostRight = 'launch.issue';
/** The accepted content types and size of a launch request. */
export const launchBody = { types: ['application/json'], limitBytes: 32 * 1024 };

export type HostDependencies = {
  readonly tokens: AccessTokenVerifier;
  readonly limiter: RateLimiter;
  readonly clientCertificateHeader?: string | undefined;
};

export type IssueLaunchDependencies = HostDependencies & {
  readonly tickets: Tickets;
  readonly clock: Clock;
  readonly isProduction: boolean;
  readonly pseudonyms: PatientPseudonyms;
  readonly callLaunchUrl: LaunchCaller;
};

/**
 * Issues a launch identifier to a host application, bound to a partner application, with the user and the
 * patient in its context: `POST /{realm}/launches` (Desktop: What the service does, steps 1 to 3). If the
 * host sends `call`, the service calls the launch URL. Otherwise, the host opens it.
 */
export function issueLaunch(dependencies: IssueLaunchDependencies): Handler<DesktopExchange> {
  const { tickets, clock, callLaunchUrl, pseudonyms } = dependencies;
  return behindHost(dependencies, async (exchange) => {
    const { realm, response, call, host } = exchange;
    const sent = await readJson(exchange, launchBody);
    const { launch, partner } = validate(sent, { realm, host }, dependencies);
    call.concern(concerningDesktopLaunch(launch, pseudonyms));
    const { launchIdentifierSeconds: ttlSeconds, sessionSeconds: chainSeconds } = realm.desktop;
    const issue = await tickets.issue('launch-identifier', {
      context: launchContext({ launch, realm, host, call, now: clock.now() }),
      challenge: launchProof({ realm: realm.name, clientId: launch.client_id }),
      ttlSeconds,
      chainSeconds,
      chainRecord: { owner: launchOwner(realm, host), audience: launch.client_id },
      chainLabels: labelsOf({
        user: launch.user.userERN,
        practice: launch.organisation.ods,
        partner: launch.client_id,
      }),
      correlationId: call.correlationId,
      events: [issuedEvent({ launch, realm, host, call, ttlSeconds })],
    });
    if (issue.outcome === 'claimed') throw new TypeError('A launch identifier must not claim a name');
    call.trace.beginLaunch();
    const launchUrl = withParameters(partner.launchUrl, { iss: realm.issuer, launch: issue.ticket });
    const called = launch.call === true ? { called: await callLaunchUrl(launchUrl, call) } : {};
    const answer: LaunchAnswer = { launch: issue.ticket, launchUrl, expires_in: ttlSeconds, ...called };
    response.statusCode = 201;
    sendJson(response, answer);
  });
}

type HostExchange = DesktopExchange & { readonly host: Caller };

/**
 * Returns a handler that accepts only host applications whose access token has the right `launch.issue`. The
 * handler throws ServiceError 401, 429 or 403.
 */
export function behindHost(
  { tokens, limiter, clientCertificateHeader }: HostDependencies,
  handle: Handler<HostExchange>,
): Handler<DesktopExchange> {
  const authenticate = async (exchange: DesktopExchange): Promise<HostExchange> => {
    const { request, call } = exchange;
    const host = await tokens.verify(authorizationOf(request), {
      clientCertificate: () => clientCertificateOf(request, clientCertificateHeader),
    });
    call.identify(`client ${host.issuer} ${host.clientId}`, host.clientId);
    return { ...exchange, host };
  };
  return behind(authenticate, async (exchange) => {
    const { host } = exchange;
    await limiter.count(`host ${host.issuer} ${host.clientId}`, host.policy.requestsPerSecond);
    assertRight(host, hostRight);
    return handle(exchange);
  });
}

/**
 * Validates the body.
 * @throws ServiceError 400 with all faults at once, including those that depend on the registry
 */
function validate(
  sent: unknown,
  { realm, host }: { readonly realm: DesktopIssuingRealm; readonly host: Caller },
  { isProduction, clock }: Pick<IssueLaunchDependencies, 'isProduction' | 'clock'>,
): { readonly launch: DesktopLaunch; readonly partner: RegisteredPartner } {
  const read = readDesktopLaunch(sent, clock.now());
  const clientId = memberOf(sent, 'client_id');
  const partner = typeof clientId === 'string' ? realm.desktop.partners.get(clientId) : undefined;
  const faults = [
    ...('faults' in read ? read.faults : []),
    ...(typeof clientId === 'string' && partner === undefined ? [unknownPartner] : []),
    ...(memberOf(sent, 'call') === true &&
    partner !== undefined &&
    !isCallable(partner.launchUrl, { isProduction })
      ? [notCallable]
      : []),
    ...signInFaults(sent, { now: clock.now(), acrValues: host.policy.acrValues }),
    ...(host.policy.sandbox === true ? syntheticPatientFaults(sent) : []),
    ...hostFaults(sent, host),
  ];
  if (faults.length === 0 && 'launch' in read && partner !== undefined)
    return { launch: read.launch, partner };
  throw new ServiceError({
    code: 'invalid_request',
    message: 'The launch is invalid. Correct the fields listed in `errors` and send it again.',
    faults: faults.slice(0, maxFaults),
  });
}

/** Returns an error for each user, organisation and practice for which the host application may not speak. */
function hostFaults(sent: unknown, { policy, practices }: Caller): Fault[] {
  const isOwn = (ern: string) => isOwnErn(ern, policy.erns);
  const isPractice = (value: string) =>
    practices === undefined || isAgreedPractice({ system: 'ods-organization-code', value }, practices);
  const rules = [
    ['user', 'userERN', isOwn],
    ['organisation', 'orgERN', isOwn],
    ['organisation', 'ods', isPractice],
  ] as const;
  return rules.flatMap(([part, name, isRegistered]): Fault[] => {
    const value = memberOf(memberOf(sent, part), name);
    // The schema reports a value that is not a text.
    if (typeof value !== 'string' || isRegistered(value)) return [];
    const message = 'is not registered for this host application. Ask the operator to add it';
    return [{ path: `${part}.${name}`, message, code: 'business-rule' }];
  });
}

const unknownPartner: Fault = {
  path: 'client_id',
  message: 'is not a partner application of this realm',
  code: 'not-found',
};
const notCallable: Fault = {
  path: 'call',
  message: 'must be false, because the host application has to open this launchUrl itself',
  code: 'not-supported',
};

function launchContext({
  launch: { client_id: clientId, call: _call, acr, amr, auth_time, ...launched },
  realm,
  host,
  call,
  now,
}: {
  launch: DesktopLaunch;
  realm: DesktopIssuingRealm;
  host: Caller;
  call: Call;
  now: number;
}): DesktopContext {
  const signIn: SignIn = withoutUndefined({ acr, amr, auth_time });
  return {
    launchId: call.correlationId,
    realm: realm.name,
    clientId,
    authTime: Math.floor(now / 1000),
    launched_by: { iss: host.issuer, client_id: host.clientId },
    ...(Object.keys(signIn).length > 0 ? { signIn } : {}),
    ...launched,
  };
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
  return call.event('desktop.launch.issued.v1', {
    realm: realm.name,
    clientId: launch.client_id,
    issuer: host.issuer,
    hostClientId: host.clientId,
    opens: launch.call === true ? 'service' : 'host',
    ttlSeconds,
    ...signInData(launch),
  });
}

/** Creates the event `desktop.launch.refused.v1`. */
export function auditLaunchRefusal(step: 'launches' | 'end'): RefusalAudit<HostExchange> {
  return (error, { call, realm, host }) => {
    if (realm === undefined) return undefined;
    return call.event('desktop.launch.refused.v1', {
      realm: realm.name,
      step,
      status: error.status,
      reason: error.code,
      ...withoutUndefined({ issuer: host?.issuer, hostClientId: host?.clientId }),
      ...faultPlaces(error.faults),
    });
  };
}
