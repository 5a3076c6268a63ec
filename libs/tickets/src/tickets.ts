import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

/**
 * The purpose of a ticket. A ticket that is presented as another kind is `unknown`. All tickets with the same
 * correlation id, which belong to one launch, are a chain.
 */
export type TicketKind =
  | 'launch-token'
  | 'launch-session'
  | 'launch-identifier'
  | 'pushed-request'
  | 'authorization-code'
  | 'refresh-token';

/**
 * The purpose of the keys that seal the tickets of a kind: `launch` for launches of practice systems,
 * `desktop` for desktop launches.
 */
export type TicketPurpose = 'launch' | 'desktop';

export const ticketPurposes: Readonly<Record<TicketKind, TicketPurpose>> = {
  'launch-token': 'launch',
  'launch-session': 'launch',
  'launch-identifier': 'desktop',
  'pushed-request': 'desktop',
  'authorization-code': 'desktop',
  'refresh-token': 'desktop',
};

/**
 * The ticket kinds that can occur many times in one chain. If the chain has an end, their used-markers expire
 * with the chain, because a later replay has nothing to revoke.
 */
export const usedUntilChainEnds: ReadonlySet<TicketKind> = new Set(['refresh-token']);

/** A caller's identifier that is claimed in the step that issues a ticket. */
export type Claim = {
  readonly name: string;
  /** The holder of the claim, for instance the action of the launch. */
  readonly holder: string;
  /** Holders whose existing claim does not conflict with this claim, and is not changed by it. */
  readonly joins?: readonly string[];
  readonly ttlSeconds: number;
};

/**
 * The record of a chain, stored from its first ticket to its absolute end, even if the chain is revoked.
 * Stored unencrypted: it contains no secret and nothing about a patient.
 */
export type ChainRecord = {
  /** The caller that began the chain. It may revoke the chain by its correlation id. */
  readonly owner: string;
  readonly audience: string;
};

/**
 * A notice for the holder of a refused ticket, for instance the address of a page that explains what to do.
 * Contains nothing about a patient.
 */
export type RefusalNotice = {
  /** JSON. */
  readonly content: unknown;
  /**
   * The lifetime of the notice, which is longer than the ticket's lifetime, so that refusals after its expiry
   * also contain the notice.
   */
  readonly ttlSeconds: number;
};

export type IssueRequest = {
  /** JSON that every successor inherits. */
  readonly context: unknown;
  /** JSON that belongs to this ticket alone; successors do not inherit it. */
  readonly detail?: unknown;
  /** One of the `proofs` of the redemption must equal the challenge. */
  readonly challenge?: string;
  readonly ttlSeconds: number;
  /** Returned when this ticket is refused: `used`, `mismatch`, or `unknown` after expiry or revocation. */
  readonly notice?: RefusalNotice;
  /** Ends the chain this many seconds from now, however often its tickets are extended. */
  readonly chainSeconds?: number;
  /**
   * Stored in the same step. Requires `chainSeconds`, and excludes a claim, because the correlation id must
   * determine the shard of the record.
   */
  readonly chainRecord?: ChainRecord;
  /**
   * The labels under which `Chains.list` finds the chain until its end, stored in the same step. Redis stores
   * only hashes of labels. Requires `chainRecord`.
   */
  readonly chainLabels?: readonly string[];
  /**
   * A chain that begins with a claim is stored in the claim's shard. Only a caller that names the claim can
   * revoke the chain, because that shard cannot be found by the correlation id.
   */
  readonly claim?: Claim;
  readonly correlationId: string;
  /** Appended to the outbox in the same step, if the ticket is issued. */
  readonly events: readonly CloudEvent[];
};

export type Issue = { readonly outcome: 'issued'; readonly ticket: string } | { readonly outcome: 'claimed' };

/**
 * A proof of possession that counts once in each chain. It is used up in the same step as the change that it
 * allows. A request with a used proof changes nothing.
 */
export type SingleUse = {
  readonly name: string;
  /** The seconds until the proof expires. */
  readonly forSeconds: number;
};

export type AdditionalIssueRequest = {
  /** The live ticket, which stays live. One of the proofs must equal its challenge. */
  readonly live: { readonly kind: TicketKind; readonly ticket: string; readonly proofs: readonly string[] };
  /** JSON. */
  readonly context: unknown;
  /** One of the `proofs` of the redemption must equal the challenge. */
  readonly challenge?: string;
  readonly ttlSeconds: number;
  readonly proof?: SingleUse;
  /** The maximum number of additional tickets that the live ticket may receive in any period of `seconds`. */
  readonly limit: { readonly tickets: number; readonly seconds: number };
};

export type AdditionalIssue =
  | { readonly outcome: 'issued'; readonly ticket: string; readonly correlationId: string }
  /** Nothing was issued, and the previous additional ticket stays live. */
  | { readonly outcome: 'limited'; readonly waitSeconds: number; readonly correlationId: string }
  /** Nothing was stored: the live ticket is unknown, no proof is correct, or `proof` was used before. */
  | { readonly outcome: 'unknown' | 'mismatch' | 'used-proof' };

export type Successor = {
  readonly kind: TicketKind;
  readonly ttlSeconds: number;
  /** Ends the chain this many seconds from now, unless an earlier ticket has already set its end. */
  readonly chainSeconds?: number;
  readonly detail?: unknown;
  readonly challenge?: string;
  /**
   * Whether the ticket is derived from its predecessor with a key of the service, and not random, so that it
   * can be computed again.
   */
  readonly isDerived?: boolean;
};

export type RedeemRequest = {
  readonly proofs?: readonly string[];
  /**
   * The outcomes `redeemed` and `repeated` use up the proof. A used proof is refused before all other checks,
   * and revokes nothing.
   */
  readonly proof?: SingleUse;
  /**
   * Limits the redemptions of this kind in the chain, including repetitions. A further redemption is
   * `exhausted`: the ticket stays usable and nothing is revoked.
   */
  readonly limit?: { readonly redemptions: number };
  /** The ticket to issue in the same step and chain. It inherits the context and the correlation id. */
  readonly successor?: Successor;
  /**
   * The repeatable window. For this many seconds after the redemption, a repetition with the same ticket and
   * a correct proof is answered `repeated`, with the same successor. A lost reply or a second tab causes a
   * repetition. The repetition must set this value too. Throws a TypeError unless the successor is derived.
   * The successors of the successor must be of its kind.
   */
  readonly repeatableSeconds?: number;
  /**
   * The seconds after the use of the successor during which a repetition is still answered, with the newest
   * successor. By default, the repeatable window.
   */
  readonly repeatableAfterUseSeconds?: number;
  /**
   * A replay (`used`) revokes the whole chain in the same step. If the chain was not revoked before, also
   * appends these events to the outbox.
   */
  readonly onReplay?: { readonly revokeForSeconds: number; readonly events: readonly CloudEvent[] };
  /**
   * Limits guessing: the mismatch that reaches `limit` uses up the ticket, revokes its chain and appends
   * these events to the outbox, in one step. Without `onMismatch`, a mismatch changes nothing.
   */
  readonly onMismatch?: {
    readonly limit: number;
    readonly revokeForSeconds: number;
    readonly events: readonly CloudEvent[];
  };
  /**
   * If the ticket is redeemed, these events are appended to the outbox in the same step, with the ticket's
   * correlation id.
   */
  readonly events: readonly CloudEvent[];
};

export type Redemption =
  /**
   * `repeated`: the ticket was redeemed before, within the repeatable window. The result is the same, except
   * that `successor` is the first successor that is unused.
   */
  | {
      readonly outcome: 'redeemed' | 'repeated';
      readonly context: unknown;
      readonly detail: unknown;
      readonly correlationId: string;
      /** Seconds until the chain ends; absent for a chain without an end. */
      readonly chainEndsInSeconds?: number;
      readonly successor?: string;
    }
  /**
   * `used`: the ticket was redeemed before, and its used-marker has not expired. `mismatch`: no proof is
   * correct (see `onMismatch`).
   */
  | { readonly outcome: 'used' | 'mismatch'; readonly correlationId: string; readonly notice?: unknown }
  /**
   * The ticket was never issued, is of another kind, has expired, or belongs to a revoked chain. The answer
   * does not reveal the cause, but contains the notice, if the ticket was issued with a notice.
   */
  | { readonly outcome: 'unknown'; readonly notice?: unknown }
  /** The `proof` of the request was used before, for a ticket of the same chain. */
  | { readonly outcome: 'used-proof' }
  /** The chain has reached the `limit` of the request. The ticket stays live. */
  | {
      readonly outcome: 'exhausted';
      readonly correlationId: string;
      /** Seconds until the chain ends; absent for a chain without an end. */
      readonly chainEndsInSeconds?: number;
    };

export type FoundTicket = {
  readonly context: unknown;
  readonly detail: unknown;
  readonly correlationId: string;
  /** Seconds until the chain ends; absent for a chain without an end. */
  readonly chainEndsInSeconds?: number;
};

/**
 * Single-use secrets. Each operation is one atomic step: exactly one caller redeems a ticket, and a state
 * change and its events are stored together or not at all.
 */
export interface Tickets {
  /** Issues a ticket of at least 256 random bits in the Base64URL alphabet. Stores only its hash. */
  issue(kind: TicketKind, request: IssueRequest): Promise<Issue>;
  /**
   * Issues an additional ticket in the chain of a live ticket, which stays live. Each live ticket has at most
   * one additional ticket: a new additional ticket replaces the previous ticket, which becomes `unknown`.
   */
  issueAdditional(kind: TicketKind, request: AdditionalIssueRequest): Promise<AdditionalIssue>;
  /**
   * Uses up a ticket if a proof is correct. Answers `used` for a used ticket that may not be repeated,
   * whatever the proof.
   */
  redeem(kind: TicketKind, ticket: string, request: RedeemRequest): Promise<Redemption>;
  /**
   * Reads a live ticket without using it up. `extendSeconds` sets its lifetime from now (the idle time of a
   * session), but never beyond the end of its chain.
   */
  find(
    kind: TicketKind,
    ticket: string,
    options?: { extendSeconds?: number },
  ): Promise<FoundTicket | undefined>;
}
