import { type CloudEvent, Unavailable } from '@clinical-launch/contracts';

/** What a ticket is for. A ticket of one kind is unknown as any other. */
export type TicketKind = 'launch-token' | 'launch-session';

/** A caller's identifier that is taken in the same step as a ticket is issued. */
export type Claim = {
  readonly name: string;
  /** Who takes it, for instance the action of the launch. */
  readonly holder: string;
  /** Holders whose claim does not stand in this one's way: an existing claim of theirs is left as it is. */
  readonly joins?: readonly string[];
  readonly ttlSeconds: number;
};

export type IssueRequest = {
  /** Inherited by every successor; JSON. */
  readonly context: unknown;
  /** Belongs to this ticket alone; JSON. */
  readonly detail?: unknown;
  /** One of the `proofs` of its redemption must equal it. */
  readonly challenge?: string;
  readonly ttlSeconds: number;
  readonly claim?: Claim;
  readonly correlationId: string;
  /** Go to the outbox in the same step, if the ticket is issued. */
  readonly events: readonly CloudEvent[];
};

export type Issue = { readonly outcome: 'issued'; readonly ticket: string } | { readonly outcome: 'claimed' };

export type RedeemRequest = {
  readonly proofs?: readonly string[];
  /** Issued in the same step; inherits context and correlation id. */
  readonly successor?: { readonly kind: TicketKind; readonly ttlSeconds: number; readonly detail?: unknown };
  /** Go to the outbox in the same step, if the ticket is redeemed, filed under its own correlation id. */
  readonly events: readonly CloudEvent[];
};

export type Redemption =
  | {
      readonly outcome: 'redeemed';
      readonly context: unknown;
      readonly detail: unknown;
      readonly correlationId: string;
      readonly successor?: string;
    }
  /** `used`: redeemed before, told while the used-marker lives. `mismatch`: no proof fits; the ticket stays as it was. */
  | { readonly outcome: 'used' | 'mismatch'; readonly correlationId: string }
  /** Never issued, of another kind, or expired: these cannot be told from each other. */
  | { readonly outcome: 'unknown' };

export type FoundTicket = {
  readonly context: unknown;
  readonly detail: unknown;
  readonly correlationId: string;
};

/**
 * Single-use secrets. Each operation is one atomic step: whatever happens, a ticket is redeemed by exactly one
 * caller, and a state change and its events are kept together or not at all.
 */
export interface Tickets {
  /** Hands out a ticket of at least 256 random bits, in the Base64URL alphabet; only its hash is kept. */
  issue(kind: TicketKind, request: IssueRequest): Promise<Issue>;
  /** Uses a ticket up. The proof is compared before anything changes; `used` is told whatever the proof. */
  redeem(kind: TicketKind, ticket: string, request: RedeemRequest): Promise<Redemption>;
  /** Reads a live ticket without using it; `extendSeconds` gives it that long from now (a session's idle time). */
  find(
    kind: TicketKind,
    ticket: string,
    options?: { extendSeconds?: number },
  ): Promise<FoundTicket | undefined>;
}

/**
 * The tickets cannot be asked at present; nothing is known about the one in question. The caller may come again, with the
 * same ticket, after `retryAfterSeconds`.
 */
export class TicketsUnavailable extends Unavailable {
  constructor(message: string, options?: ConstructorParameters<typeof Unavailable>[1]) {
    super(message, options);
    this.name = 'TicketsUnavailable';
  }
}
