import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AuditEntry } from '@clinical-launch/audit-trail/domain/audit-entry';
import type { AuditCriteria, SearchAudit } from '@clinical-launch/audit-trail/store/audit-search';
import { entriesOf } from '@clinical-launch/audit-trail/work/read-pages';
import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { launchSessionSeconds } from '@clinical-launch/contracts/launch-context';
import { longestDesktopLaunchSeconds } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { launchOwner } from '@clinical-launch/identity-provider/domain/desktop-chain';
import { followOutbox } from '@clinical-launch/redis/outbox-progress';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { ChainRevocation } from '@clinical-launch/tickets/chains';
import { RedisChains, type RedisChainsDependencies } from '@clinical-launch/tickets/redis-chains';

/** The criteria, all of which a launch must match. */
export type LaunchSelection = EventData<'launches.ended.v1'>['selection'];

export type EndRequest = {
  readonly selection: LaunchSelection;
  /** The operator, for the audit trail. */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The seconds to wait for the events of launches that the audit trail has not stored yet. */
  readonly waitSeconds: number;
};

export type EndedLaunches = {
  readonly ended: readonly { readonly launchId: string; readonly partner?: string }[];
  /** False if events of earlier launches were still on their way to the audit trail after the wait. */
  readonly isComplete: boolean;
};

type Dependencies = {
  readonly search: SearchAudit;
  readonly redis: RedisChainsDependencies;
};

const pauseMs = 250;
/** The extra seconds for the lifetime of a launch token, and for clocks that differ. */
const slackSeconds = 3600;

/**
 * Ends the launches that match a selection and were issued before the start of the command. First ends the
 * launches that the audit trail already contains. Then repeats the search until the audit trail has stored
 * the events that waited in the outbox at the start, or `waitSeconds` have passed. A second run ends nothing
 * twice and appends no second event for a launch.
 * @throws RedisUnavailable when Redis does not answer, and the errors of the database
 */
export async function endLaunches(request: EndRequest, dependencies: Dependencies): Promise<EndedLaunches> {
  const { selection, by, now, waitSeconds } = request;
  const { search, redis } = dependencies;
  const create = createEvents();
  const chains = new RedisChains(redis);
  const isRelayed = await followOutbox(redis);
  const seen = new Set<string>();
  const ended: { launchId: string; partner?: string }[] = [];

  const endFound = async () => {
    for (const criteria of searchesOf(selection, now)) {
      for await (const entry of entriesOf(search, { criteria })) {
        const launchId = entry.correlationId;
        if (seen.has(launchId) || !isSelected(entry, selection)) continue;
        seen.add(launchId);
        const { partner, revocation } = endingOf(entry, by, create);
        const isEnded = await chains.revoke(launchId, revocation);
        if (isEnded) ended.push({ launchId, ...withoutUndefined({ partner }) });
      }
    }
  };

  const run = create('launches.ended.v1', { by, selection });
  const outbox = new RedisOutbox(redis);
  let isRunSent = false;
  for (let left = Math.ceil((waitSeconds * 1000) / pauseMs); ; left -= 1) {
    await endFound();
    if (isRunSent) {
      // `run` was appended after the events that waited at the start, so the audit trail stores those first.
      const { entries } = await search({ id: run.id }, { limit: 1 });
      if (entries.length > 0) break;
    } else if (left <= 0 || (await isRelayed())) {
      await outbox.append([run]);
      isRunSent = true;
    }
    if (left <= 0) return { ended, isComplete: false };
    await pause(pauseMs);
  }
  await endFound();
  return { ended, isComplete: true };
}

type CreateEvent = <Type extends EventType>(type: Type, data: EventData<Type>) => CloudEvent<Type>;

function createEvents(): CreateEvent {
  const traceId = randomUUID().replaceAll('-', '');
  return (type, data) =>
    createEvent(
      type,
      {
        source: '/operator',
        correlationId: randomUUID(),
        traceparent: `00-${traceId}-${'1'.repeat(16)}-00`,
        now: new Date(),
      },
      data,
    );
}

/** Returns the searches for launches that can still be live. Only desktop launches have a partner. */
function searchesOf({ user, practice, client, partner }: LaunchSelection, now: number): AuditCriteria[] {
  const since = (seconds: number) => new Date(now - (seconds + slackSeconds) * 1000);
  const shared = { user, practice, client };
  const desktop = { types: ['desktop.launch.issued.v1'], from: since(longestDesktopLaunchSeconds) };
  const ofPracticeSystems = { types: ['launch.url.issued.v1'], from: since(launchSessionSeconds) };
  return [desktop, ...(partner === undefined ? [ofPracticeSystems] : [])].map((kind) => ({
    ...shared,
    ...kind,
  }));
}

const isSelected = ({ event }: AuditEntry, { partner }: LaunchSelection): boolean =>
  partner === undefined || (isDesktopLaunch(event) && event.data.clientId === partner);

type Ending = { readonly partner?: string; readonly revocation: ChainRevocation };

/** Returns the revocation of a launch's chain, with the event that reports the revocation. */
function endingOf({ event }: AuditEntry, by: string, create: CreateEvent): Ending {
  const reason = 'ended_by_operator' as const;
  if (isDesktopLaunch(event)) {
    const { realm, issuer, hostClientId, clientId: partner } = event.data;
    return {
      partner,
      revocation: {
        // The record of a chain names this owner until the chain ends, so an ended chain is not revoked.
        owner: launchOwner({ name: realm }, { issuer, clientId: hostClientId }),
        forSeconds: longestDesktopLaunchSeconds + slackSeconds,
        events: [create('desktop.chain.revoked.v1', { realm, reason, by })],
      },
    };
  }
  const claim = isLaunchUrl(event) ? event.data.claim?.name : undefined;
  return {
    revocation: {
      forSeconds: launchSessionSeconds + slackSeconds,
      events: [create('launch.ended.v1', { reason, by })],
      ...withoutUndefined({ claim }),
    },
  };
}

const isDesktopLaunch = (event: CloudEvent): event is CloudEvent<'desktop.launch.issued.v1'> =>
  event.type === 'desktop.launch.issued.v1';
const isLaunchUrl = (event: CloudEvent): event is CloudEvent<'launch.url.issued.v1'> =>
  event.type === 'launch.url.issued.v1';
