import { assertCloudEvent, type CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import type { ClaimKeys } from './redis-keys.ts';
import { listOf, milliseconds, millisecondsOrNone, type ScriptArgument } from './redis-scripts.ts';
import type { PresentedTicket, TicketSeals } from './ticket-seals.ts';
import type { Claim, RedeemRequest, RefusalNotice, SingleUse, Successor } from './tickets.ts';

/** Returns the arguments of a claim; placeholders without one. */
export const claimArguments = (
  claim: Claim | undefined,
  claimed: ClaimKeys | undefined,
): ScriptArgument[] => [
  claim?.holder ?? '',
  claimed?.field ?? '',
  milliseconds(claim?.ttlSeconds ?? 0),
  ...listOf(claim?.joins ?? []),
];

/** Returns the fields of a ticket that its redemption compares with the proofs. */
export const challengeFields = (challenge: string | undefined): string[] =>
  challenge === undefined ? [] : ['challenge', challenge];

type TicketPlace = Omit<PresentedTicket, 'chain'>;

/** Returns the fields of a ticket that belong to it alone. */
export const detailFields = (seals: TicketSeals, ticket: TicketPlace, detail: unknown): string[] =>
  detail === undefined ? [] : ['detail', seals.sealDetail(ticket, detail)];

/** Returns the arguments of a notice; placeholders without one. */
export const noticeArguments = (
  seals: TicketSeals,
  ticket: TicketPlace,
  notice: RefusalNotice | undefined,
): ScriptArgument[] =>
  notice === undefined
    ? ['', '']
    : [seals.sealNotice(ticket, notice.content), milliseconds(notice.ttlSeconds)];

/** Returns the arguments of a successor with this ticket; placeholders without one. */
export function successorArguments(
  seals: TicketSeals,
  successor: Successor | undefined,
  text: string | undefined,
): ScriptArgument[] {
  if (successor === undefined || text === undefined) return ['', '', 0];
  const { kind, ttlSeconds, chainSeconds, detail, challenge } = successor;
  return [
    milliseconds(ttlSeconds),
    millisecondsOrNone(chainSeconds),
    ...listOf([...detailFields(seals, { kind, text }, detail), ...challengeFields(challenge)]),
  ];
}

/** Returns the arguments of a proof that counts once; placeholders without one. */
export const proofArguments = (proof: SingleUse | undefined, attempt: string): ScriptArgument[] => [
  attempt,
  millisecondsOrNone(proof?.forSeconds),
];

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
