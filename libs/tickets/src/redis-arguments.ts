import { assertCloudEvent, type CloudEvent, type EventWriter } from '@clinical-launch/contracts';
import type { ClaimKeys } from './redis-keys.ts';
import { listOf, milliseconds, type ScriptArgument } from './redis-scripts.ts';
import type { Claim, RedeemRequest } from './tickets.ts';

/** Milliseconds that processes of the previous release see a claim too. An update replaces them in time. */
const sharedClaimMs = 600_000;

/** Returns the arguments of a claim; placeholders without one. */
export const claimArguments = (
  claim: Claim | undefined,
  claimed: ClaimKeys | undefined,
): ScriptArgument[] => [
  claim?.holder ?? '',
  claimed?.field ?? '',
  milliseconds(claim?.ttlSeconds ?? 0),
  sharedClaimMs,
  ...listOf(claim?.joins ?? []),
];

/** Returns the fields of a ticket that its redemption compares with the proofs. */
export const challengeFields = (challenge: string | undefined): string[] =>
  challenge === undefined ? [] : ['challenge', challenge];

/**
 * Returns the arguments that revoke the chain after a replay or a wrong proof beyond the limit; empty if
 * neither is requested.
 */
export function revocationArguments(
  { onReplay, onMismatch }: RedeemRequest,
  correlationId: string,
  writeEvent: EventWriter,
): ScriptArgument[] {
  if (onReplay === undefined && onMismatch === undefined) return [];
  return [
    onReplay === undefined ? '' : milliseconds(onReplay.revokeForSeconds),
    ...listOf(eventTexts(writeEvent, onReplay?.events ?? [], correlationId)),
    ...(onMismatch === undefined
      ? []
      : [
          onMismatch.limit,
          milliseconds(onMismatch.revokeForSeconds),
          ...listOf(eventTexts(writeEvent, onMismatch.events, correlationId)),
        ]),
  ];
}

/**
 * Returns the events as the outbox stores them, filed under the correlation id of their chain if they belong
 * to one.
 * @throws TypeError for an event that the bus would refuse: it must not enter the outbox
 */
export function eventTexts(
  write: EventWriter,
  events: readonly CloudEvent[],
  correlationId?: string,
): string[] {
  for (const event of events) assertCloudEvent(event);
  return events.map((event) =>
    write(correlationId === undefined ? event : { ...event, correlationid: correlationId }),
  );
}
