import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import {
  answerLifetimeMs,
  createScriptReader,
  drawAttempt,
  eventTexts,
  listOf,
  milliseconds,
  millisecondsOrNone,
  type Script,
  type ScriptArgument,
  type Shard,
} from '@clinical-launch/redis/redis-scripts';
import type { PresentedTicket, TicketSeals } from './ticket-format.ts';
import type { ClaimKeys, TicketKeys } from './ticket-keys.ts';
import {
  type AdditionalIssueRequest,
  type Claim,
  type IssueRequest,
  type RedeemRequest,
  type RefusalNotice,
  type SingleUse,
  type Successor,
  usedUntilChainEnds,
} from './tickets.ts';

const readScript = createScriptReader(import.meta.url);
export const issueScript = readScript('shared', 'guard', 'ends', 'claims', 'labels', 'issue');
const issueAdditionalScript = readScript('shared', 'guard', 'chains', 'ends', 'proofs', 'issue-additional');
export const redeemScript = readScript('shared', 'guard', 'chains', 'ends', 'proofs', 'redeem');

/** A script with its keys and arguments, in the order in which the script reads them. */
export type Command = readonly [Script, readonly string[], readonly ScriptArgument[]];

export type TicketCommandsDependencies = {
  readonly keys: TicketKeys;
  readonly seals: TicketSeals;
  readonly guardMs: number;
  readonly usedMarkerMs: number;
  readonly requiresCompleteClaims: boolean;
  readonly writeEvent: EventWriter;
};

/**
 * Builds the commands that run the scripts, with keys and arguments in the order in which the scripts read
 * them.
 */
export class TicketCommands {
  readonly #dependencies: TicketCommandsDependencies;

  constructor(dependencies: TicketCommandsDependencies) {
    this.#dependencies = dependencies;
  }

  issue({ kind, text, chain }: PresentedTicket, request: IssueRequest): Command {
    const { keys, seals, guardMs, requiresCompleteClaims, writeEvent } = this.#dependencies;
    const { context, detail, challenge, notice, claim, ttlSeconds, chainSeconds, events } = request;
    const { shard, correlationId } = chain;
    const claimed = claim === undefined ? undefined : keys.claim(shard, claim.name);
    return [
      issueScript,
      [
        keys.ticket(shard, kind, text),
        keys.notice(shard, kind, text),
        keys.chainRecord(shard, correlationId),
        ...keys.common(shard, kind),
        ...(claimed === undefined ? [] : [claimed.claims]),
        ...(claimed === undefined || !requiresCompleteClaims ? [] : [keys.claimsComplete(shard)]),
        ...labelKeys(keys, shard, request),
      ],
      [
        guardMs,
        milliseconds(ttlSeconds),
        millisecondsOrNone(chainSeconds),
        ...listOf([
          'correlationid',
          correlationId,
          'context',
          seals.sealContext({ kind, chain }, context),
          ...detailFields(seals, { kind, text }, detail),
          ...challengeFields(challenge),
        ]),
        ...noticeArguments(seals, { kind, text }, notice),
        ...claimArguments(claim, claimed),
        ...listOf(Object.entries(request.chainRecord ?? {}).flat()),
        ...listOf(eventTexts(writeEvent, events)),
        ...(request.chainLabels === undefined ? [] : [correlationId]),
      ],
    ];
  }

  issueAdditional({ kind, text, chain }: PresentedTicket, request: AdditionalIssueRequest): Command {
    const { keys, seals, guardMs } = this.#dependencies;
    const { live, context, challenge, ttlSeconds, limit, proof } = request;
    const { shard, correlationId } = chain;
    return [
      issueAdditionalScript,
      [
        keys.ticket(shard, live.kind, live.ticket),
        keys.chain(shard),
        keys.ticket(shard, kind, text),
        ...keys.guard(shard, kind),
        ...(proof === undefined ? [] : [keys.proof(shard, correlationId, proof.name)]),
      ],
      [
        guardMs,
        milliseconds(ttlSeconds),
        ...listOf(live.proofs),
        limit.tickets,
        milliseconds(limit.seconds),
        ...listOf([
          'correlationid',
          correlationId,
          'context',
          seals.sealContext({ kind, chain }, context),
          ...challengeFields(challenge),
        ]),
        ...proofArguments(proof, drawAttempt()),
      ],
    ];
  }

  /**
   * Returns the command that redeems a ticket (redeem.lua).
   * @param next the text of the successor
   */
  redeem(presented: PresentedTicket, request: RedeemRequest, next: string | undefined): Command {
    const { keys, seals, guardMs, usedMarkerMs, writeEvent } = this.#dependencies;
    const { kind, text, chain } = presented;
    const { shard, correlationId } = chain;
    const { proofs = [], proof, limit, successor, repeatableSeconds, events } = request;
    const { repeatableAfterUseSeconds = repeatableSeconds } = request;
    const attempt = drawAttempt();
    return [
      redeemScript,
      [
        keys.ticket(shard, kind, text),
        keys.notice(shard, kind, text),
        keys.used(shard, kind, text),
        keys.answer(shard, kind, attempt),
        keys.chain(shard),
        ...keys.common(shard, kind),
        ...(successor === undefined || next === undefined ? [] : [keys.ticket(shard, successor.kind, next)]),
        ...(repeatableSeconds === undefined ? [] : [keys.repeatable(shard, kind, text)]),
        ...(proof === undefined ? [] : [keys.proof(shard, correlationId, proof.name)]),
        ...(limit === undefined ? [] : [keys.redemptions(shard, kind, correlationId)]),
      ],
      [
        guardMs,
        answerLifetimeMs,
        usedMarkerMs,
        usedUntilChainEnds.has(kind) ? '1' : '',
        ...listOf(proofs),
        ...successorArguments(seals, successor, next),
        ...listOf(eventTexts(writeEvent, events, correlationId)),
        millisecondsOrNone(repeatableSeconds),
        millisecondsOrNone(repeatableAfterUseSeconds),
        repeatableSeconds === undefined ? '' : seals.currentKeyId(successor?.kind ?? kind),
        ...proofArguments(proof, attempt),
        limit?.redemptions ?? '',
        ...revocationArguments(request, correlationId, writeEvent),
      ],
    ];
  }
}

const labelKeys = (
  keys: TicketKeys,
  shard: Shard,
  { chainRecord, chainLabels = [] }: IssueRequest,
): readonly string[] =>
  chainRecord === undefined
    ? []
    : chainLabels.map((label) => keys.labelled(shard, { owner: chainRecord.owner, label }));

/** Returns the arguments of a claim, or placeholders if there is no claim. */
const claimArguments = (claim: Claim | undefined, claimed: ClaimKeys | undefined): ScriptArgument[] => [
  claim?.holder ?? '',
  claimed?.field ?? '',
  milliseconds(claim?.ttlSeconds ?? 0),
  ...listOf(claim?.joins ?? []),
];

const challengeFields = (challenge: string | undefined): string[] =>
  challenge === undefined ? [] : ['challenge', challenge];

type TicketPlace = Omit<PresentedTicket, 'chain'>;

const detailFields = (seals: TicketSeals, ticket: TicketPlace, detail: unknown): string[] =>
  detail === undefined ? [] : ['detail', seals.sealDetail(ticket, detail)];

/** Returns the arguments of a notice, or placeholders if there is no notice. */
const noticeArguments = (
  seals: TicketSeals,
  ticket: TicketPlace,
  notice: RefusalNotice | undefined,
): ScriptArgument[] =>
  notice === undefined
    ? ['', '']
    : [seals.sealNotice(ticket, notice.content), milliseconds(notice.ttlSeconds)];

/** Returns the arguments of a successor, or placeholders if there is no successor. */
function successorArguments(
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

/** Returns the arguments of a single-use proof, or placeholders if there is no proof. */
const proofArguments = (proof: SingleUse | undefined, attempt: string): ScriptArgument[] => [
  attempt,
  millisecondsOrNone(proof?.forSeconds),
];

/**
 * Returns the arguments that revoke the chain after a replay, or after a wrong proof that reaches the limit.
 * Empty if neither revocation is requested.
 */
function revocationArguments(
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
