import { type CloudEvent, Unavailable } from '@clinical-launch/contracts';

/** What a ticket is for. A ticket of one kind is unknown as any other. */
export type TicketKind =
  | 'launch-token'
  | 'launch-session'
  | 'launch-identifier'
  | 'pushed-request'
  | 'authorization-code'
  | 'refresh-token';

/** Whose keys seal the tickets of a kind: of the launches of practice systems, or of desktop launches. */
export type TicketPurpose = 'launch' | 'desktop';

export const ticketPurposes: Readonly<Record<TicketKind, TicketPurpose>> = {
  'launch-token': 'launch',
  'launch-session': 'launch',
  'launch-identifier': 'desktop',
  'pushed-request': 'desktop',
  'authorization-code': 'desktop',
  'refresh-token': 'desktop',
};

/** A caller's identifier that is taken in the same step as a ticket is issued. */
export type Claim = {
  readonly name: string;
  /** Who takes it, for instance the action of the launch. */
  readonly holder: string;
  /** Holders whose claim does not stand in this one's way: an existing claim of theirs is left as it is. */
  readonly joins?: readonly string[];
  readonly ttlSeconds: number;
};

/**
 * What is known of a chain beside its tickets, from its first ticket to its absolute end, also when it was revoked. Kept
 * as it is: no secret and nothing of a patient.
 */
export type ChainRecord = {
  /** Names the caller that began the chain, which may revoke it by its correlation id. */
  readonly owner: string;
  /** Names the application that the chain is for. */
  readonly audience: string;
};

export type IssueRequest = {
  /** Inherited by every successor; JSON. */
  readonly context: unknown;
  /** Belongs to this ticket alone; JSON. */
  readonly detail?: unknown;
  /** One of the `proofs` of its redemption must equal it. */
  readonly challenge?: string;
  readonly ttlSeconds: number;
  /** Ends the chain this many seconds from now: no ticket of it lives longer, however often it is extended. */
  readonly chainSeconds?: number;
  /** Stored in the same step. Needs `chainSeconds`, and no claim: the record lies where the correlation id says. */
  readonly chainRecord?: ChainRecord;
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
  /** Ends the chain this many seconds from now, unless an earlier ticket has set its end already. */
  readonly chainSeconds?: number;
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
   * For so long after the redemption a repetition with the same ticket and a proof that fits is told `repeated`, with
   * the same successor: a reply that was lost, two tabs. It has to ask for this too. Needs a derived successor, or it
   * throws a TypeError.
   */
  readonly repeatableSeconds?: number;
  /** A replay (`used`) revokes the whole chain in the same step; if that is new, these events go to the outbox. */
  readonly onReplay?: { readonly revokeForSeconds: number; readonly events: readonly CloudEvent[] };
  /**
   * Bounds guessing: the mismatch that reaches `limit` uses the ticket up and revokes its chain in the same step, and
   * these events go to the outbox. Without it, a mismatch changes nothing.
   */
  readonly onMismatch?: {
    readonly limit: number;
    readonly revokeForSeconds: number;
    readonly events: readonly CloudEvent[];
  };
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
      /** Seconds until the chain ends; absent where it has no end. */
      readonly chainEndsInSeconds?: number;
      readonly successor?: string;
    }
  /** `used`: redeemed before, told while the used-marker lives. `mismatch`: no proof fits; see `onMismatch`. */
  | { readonly outcome: 'used' | 'mismatch'; readonly correlationId: string }
  /** Never issued, of another kind, expired, or of a revoked chain: these cannot be told from each other. */
  | { readonly outcome: 'unknown' };

export type FoundTicket = {
  readonly context: unknown;
  readonly detail: unknown;
  readonly correlationId: string;
  /** Seconds until the chain ends; absent where it has no end. */
  readonly chainEndsInSeconds?: number;
};

/**
 * Single-use secrets. Each operation is one atomic step: whatever happens, a ticket is redeemed by exactly one
 * caller, and a state change and its events are kept together or not at all.
 */
export interface Tickets {
  /** Hands out a ticket of at least 256 random bits, in the Base64URL alphabet; only its hash is kept. */
  issue(kind: TicketKind, request: IssueRequest): Promise<Issue>;
  /** Uses a ticket up. Compares the proof first; answers `used` whatever the proof. */
  redeem(kind: TicketKind, ticket: string, request: RedeemRequest): Promise<Redemption>;
  /**
   * Reads a live ticket without using it. `extendSeconds` gives it that long from now (a session's idle time), but never
   * longer than its chain.
   */
  find(
    kind: TicketKind,
    ticket: string,
    options?: { extendSeconds?: number },
  ): Promise<FoundTicket | undefined>;
  /**
   * Takes a name for so long, for instance the `jti` of a signed assertion, and resolves with whether it was free. The
   * events go to the outbox in the same step, if it was.
   */
  claim(
    name: string,
    request: { readonly forSeconds: number; readonly events: readonly CloudEvent[] },
  ): Promise<boolean>;
  /**
   * Ends a chain: every ticket that carries this correlation id is unknown from now on, for so long at least. The
   * life of the longest-lived ticket or token of the chain is long enough. The events go to the outbox in the same step,
   * filed under this correlation id, if the chain was not revoked before.
   * With `owner`, only a chain whose record names this owner is revoked. Returns whether the chain may be revoked so;
   * always true without `owner`.
   */
  revokeChain(correlationId: string, request: ChainRevocation): Promise<boolean>;
  /** Whether the chain was revoked, for what was made of its tickets and lives on without them (access tokens). */
  isChainRevoked(correlationId: string): Promise<boolean>;
  /**
   * Returns the correlation id of a ticket that is alive or was used, also when its chain was revoked. Changes
   * nothing.
   */
  findChainOf(kind: TicketKind, ticket: string): Promise<string | undefined>;
  /** Returns what is known of a chain beside its tickets, until its absolute end, also when it was revoked. */
  findChainRecord(correlationId: string): Promise<ChainRecord | undefined>;
}

export type ChainRevocation = {
  readonly forSeconds: number;
  readonly events: readonly CloudEvent[];
  readonly owner?: string;
};

/**
 * The tickets cannot be asked at present; nothing is known about the one in question. The caller may come again, with
 * the same ticket, after `retryAfterSeconds`.
 */
export class TicketsUnavailable extends Unavailable {
  constructor(message: string, options?: ConstructorParameters<typeof Unavailable>[1]) {
    super(message, options);
    this.name = 'TicketsUnavailable';
  }
}
