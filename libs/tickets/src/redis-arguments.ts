import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import {
  eventTexts,
  listOf,
  milliseconds,
  millisecondsOrNone,
  type ScriptArgument,
} from '@clinical-launch/redis/redis-scripts';
import type { PresentedTicket, TicketSeals } from './ticket-format.ts';
import type { ClaimKeys } from './ticket-keys.ts';
import type { Claim, RedeemRequest, RefusalNotice, SingleUse, Successor, TicketKind } from './tickets.ts';

/*
 * The arguments of the scripts issue.lua, issue-additional.lua and redeem.lua. An optional part of a request
 * that is absent is sent as placeholders, because the scripts read their arguments by position.
 */

type TicketPlace = Omit<PresentedTicket, 'chain'>;

/** Returns the arguments of a claim, or placeholders if there is no claim. */
export const claimArguments = (
  claim: Claim | undefined,
  claimed: ClaimKeys | undefined,
): ScriptArgument[] => [
  claim?.holder ?? '',
  claimed?.field ?? '',
  milliseconds(claim?.ttlSeconds ?? 0),
  ...listOf(claim?.joins ?? []),
];

export const challengeFields = (challenge: string | undefined): string[] =>
  challenge === undefined ? [] : ['challenge', challenge];

export const detailFields = (seals: TicketSeals, ticket: TicketPlace, detail: unknown): string[] =>
  detail === undefined ? [] : ['detail', seals.sealDetail(ticket, detail)];

/** Returns the arguments of a notice, or placeholders if there is no notice. */
export const noticeArguments = (
  seals: TicketSeals,
  ticket: TicketPlace,
  notice: RefusalNotice | undefined,
): ScriptArgument[] =>
  notice === undefined
    ? ['', '']
    : [seals.sealNotice(ticket, notice.content), milliseconds(notice.ttlSeconds)];

/** Returns the arguments of a successor, or placeholders if there is no successor. */
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

/** Returns the arguments of a repeatable window, with the id of the key that derives the successor. */
export function repetitionArguments(
  seals: TicketSeals,
  kind: TicketKind,
  { repeatableSeconds, repeatableAfterUseSeconds = repeatableSeconds, successor }: RedeemRequest,
): ScriptArgument[] {
  if (repeatableSeconds === undefined) return ['', '', ''];
  const windows = [repeatableSeconds, repeatableAfterUseSeconds].map(millisecondsOrNone);
  return [...windows, seals.currentKeyId(successor?.kind ?? kind)];
}

/** Returns the arguments of a single-use proof, or placeholders if there is no proof. */
export const proofArguments = (proof: SingleUse | undefined, attempt: string): ScriptArgument[] => [
  attempt,
  millisecondsOrNone(proof?.forSeconds),
];

/**
 * Returns the arguments that revoke the chain after a replay, or after a wrong proof that reaches the limit.
 * Empty if neither revocation is requested.
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
