import { type CloudEvent, Unavailable } from '@clinical-launch/contracts';

/** What a ticket is for. A ticket of one kind is unknown as any other. */
export type TicketKind =
  | 'launch-token'
  | 'launch-session'
  | 'launch-identifier'
  | 'authorization-code'
  | 'refresh-token';

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
  /** A chain that begins with a claim lies with it and cannot be revoked: no other part knows where to look. */
  readonly claim?: Claim;
  readonly correlationId: string;
  /** Go to the outbox in the same step, if the ticket is issued. */
  readonly events: readonly CloudEvent[];
};

export type Issue = { readonly outcome: 'issued'; readonly ticket: string } | { readonly outcome: 'claimed' };

export type Successor = {
  readonly kind: TicketKind;
  readonly ttlSeconds: number;
  readonly detail?: unknown;
  readonly challenge?: string;
  /** Computed from its predecessor under a key of the service instead of drawn, so that it can be computed again. */
  readonly isDerived?: boolean;
};

export type RedeemRequest = {
  readonly proofs?: readonly string[];
  /** Issued in the same step; inherits context and correlation id, and so belongs to the same chain. */
  readonly successor?: Successor;
  /**
   * For so long after the redemption a repetition with the same ticket and a proof that fits is told `repeated`, with the
   * same successor: a reply that was lost, two tabs. It has to ask for this too. Needs a derived successor, or it
   * throws a TypeError.
   */
  readonly repeatableSeconds?: number;
  /** A replay (`used`) revokes the whole chain in the same step; if that is new, these events go to the outbox. */
  readonly onReplay?: { readonly revokeForSeconds: number; readonly events: readonly CloudEvent[] };
  /** Go to the outbox in the same step, if the ticket is redeemed, filed under its own correlation id. */
  readonly events: readonly CloudEvent[];
};

export type Redemption =
  /** `repeated`: redeemed before, within the time in which that may be repeated; what it gave is given again. */
  | {
      readonly outcome: 'redeemed' | 'repeated';
      readonly context: unknown;
      readonly detail: unknown;
      readonly correlationId: string;
      readonly successor?: string;
    }
  /** `used`: redeemed before, told while the used-marker lives. `mismatch`: no proof fits; the ticket stays as it was. */
  | { readonly outcome: 'used' | 'mismatch'; readonly correlationId: string }
  /** Never issued, of another kind, expired, or of a revoked chain: these cannot be told from each other. */
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
  /**
   * Ends a chain: every ticket that carries this correlation id is unknown from now on, for so long at least. The
   * life of the longest-lived ticket or token of the chain is long enough. The events go to the outbox in the same step,
   * filed under this correlation id, if the chain was not revoked before.
   */
  revokeChain(
    correlationId: string,
    request: { readonly forSeconds: number; readonly events: readonly CloudEvent[] },
  ): Promise<void>;
  /** Whether the chain was revoked, for what was made of its tickets and lives on without them (access tokens). */
  isChainRevoked(correlationId: string): Promise<boolean>;
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
