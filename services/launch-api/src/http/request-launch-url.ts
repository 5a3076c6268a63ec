import { hash } from 'node:crypto';
import {
  type Action,
  type LaunchContext,
  type LaunchNotice,
  type LaunchRequest,
  navigationChallenge,
} from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { signInData } from '@clinical-launch/contracts/sign-in';
import { type Static, Type } from '@clinical-launch/contracts/type';
import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Claim, IssueRequest, Tickets } from '@clinical-launch/tickets/tickets';
import type { Caller } from '@clinical-launch/trust/access-tokens';
import type { LaunchApiConfig } from '../config.ts';
import type { LaunchExchange } from './check-launch.ts';

const daySeconds = 86_400;
/**
 * The seconds for which a refused launch redirects to the error page of its client. One hour is enough for
 * any user to see the reason. Until then, each launch uses memory in Redis.
 */
const errorPageSeconds = 3600;

/** The answer of RequestLaunchUrl (OLTR: Launch URL response). */
export const launchUrlAnswer = Type.Object({
  url: Type.String({
    format: 'uri',
    description: 'Append `&codeVerifier=` and the code verifier, then open it in the browser of the user.',
  }),
});
type LaunchUrlAnswer = Static<typeof launchUrlAnswer>;

export type RequestLaunchUrlDependencies = {
  readonly tickets: Pick<Tickets, 'issue'>;
  readonly clock: Clock;
  readonly onIssued: (clientId: string) => void;
};

/**
 * Issues a launch URL for a valid request: `POST /AccessApi/RequestLaunchUrl` (OLTR: Endpoints). Stores the
 * launch token, the originating id (IdByCaller) and the audit event in one step. The handler throws
 * ServiceError 409 if the originating id was already used.
 */
export function requestLaunchUrl(
  config: LaunchApiConfig,
  { tickets, clock, onIssued }: RequestLaunchUrlDependencies,
): Handler<LaunchExchange> {
  const { launchTokenSeconds, originatingIdRetentionDays } = config;
  return async (exchange) => {
    const { call, response, caller, challenge, launch } = exchange;
    const claim = originatingIdClaim(caller, launch, originatingIdRetentionDays * daySeconds);

    const issue = await tickets.issue('launch-token', {
      context: launchContext(exchange, clock.now()),
      challenge: caller.policy.requireNavigation ? navigationChallenge(challenge) : challenge,
      ttlSeconds: launchTokenSeconds,
      ...launchNotice(caller, launchTokenSeconds),
      claim,
      correlationId: call.correlationId,
      events: [
        call.event('launch.url.issued.v1', {
          issuer: caller.issuer,
          clientId: caller.clientId,
          action: launch.action,
          ttlSeconds: launchTokenSeconds,
          claim: { name: claim.name, ttlSeconds: claim.ttlSeconds },
          ...signInData(launch.signIn),
        }),
      ],
    });
    if (issue.outcome === 'claimed') throw identifierUsed();
    call.trace.beginLaunch();
    onIssued(caller.clientId);
    const answer: LaunchUrlAnswer = { url: `${config.oltrServer}/secureLaunch?launchToken=${issue.ticket}` };
    response.setHeader('Cache-Control', 'no-store');
    sendJson(response, answer);
  };
}

/**
 * The actions that may already hold the originating id of an action that opens an existing request
 * (IdByCaller). The OrderTest that created the request may be older than the claims, or than this platform.
 */
const openable: readonly Action[] = ['OrderTest', 'UpdateTest', 'PatientSampleQueue', 'PatientReport'];

/**
 * For each action, the actions that may already hold the same originating id. Every action that opens no
 * existing request needs a new id.
 */
const joinable: Readonly<Record<Action, readonly Action[]>> = {
  OrderTest: [],
  UpdateTest: openable,
  PatientSampleQueue: openable,
  PatientReport: openable,
  PatientRequestList: [],
  LocationSampleQueue: [],
  PatientReportList: [],
  LocationReportList: [],
};

/**
 * Returns the claim that reserves the originating id of a launch. Each client has its own ids, which are
 * compared exactly.
 */
function originatingIdClaim(
  client: { issuer: string; clientId: string },
  { action, originatingId }: LaunchRequest,
  ttlSeconds: number,
): Claim {
  // Hashes the id, because it can have any length and contain any data of the practice system.
  const name = hash('sha256', JSON.stringify([client.issuer, client.clientId, originatingId]), 'base64url');
  return { name, holder: action, joins: joinable[action], ttlSeconds };
}

function launchContext(
  { call, caller, launch: request, isPracticeEditor }: LaunchExchange,
  issuedAt: number,
): LaunchContext {
  const { issuer, clientId, policy, practices } = caller;
  return {
    launchId: call.correlationId,
    issuedAt,
    client: {
      issuer,
      clientId,
      frameAncestors: policy.frameAncestors ?? [],
      ...withoutUndefined({ resultOrigin: policy.resultOrigin, practices }),
    },
    request,
    ...withoutUndefined({ isPracticeEditor }),
  };
}

function launchNotice({ policy }: Caller, launchTokenSeconds: number): Pick<IssueRequest, 'notice'> {
  const { launchErrorPage: errorPage, requireNavigation: requiresNavigation } = policy;
  if (errorPage === undefined && !requiresNavigation) return {};
  const content: LaunchNotice = withoutUndefined({ errorPage, requiresNavigation });
  return { notice: { content, ttlSeconds: errorPage === undefined ? launchTokenSeconds : errorPageSeconds } };
}

const identifierUsed = () =>
  new ServiceError({
    code: 'identifier_used',
    message: 'The identifier was already used. Send a new identifier',
  });
