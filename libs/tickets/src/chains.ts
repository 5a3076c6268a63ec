import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { ChainRecord, SingleUse, TicketKind } from './tickets.ts';

export type ChainUse = {
  readonly proof?: SingleUse | undefined;
  /** The maximum number of uses in a window that starts with the first use. */
  readonly limit: { readonly uses: number; readonly seconds: number };
  readonly events: readonly CloudEvent[];
};

export type ChainUseOutcome =
  | { readonly outcome: 'accepted' }
  /**
   * Nothing was stored. `used-proof`: the `proof` was used before for this chain. `limited`: the limit is
   * reached.
   */
  | { readonly outcome: 'used-proof' }
  | { readonly outcome: 'limited'; readonly waitSeconds: number };

export type ChainRevocation = {
  readonly forSeconds: number;
  readonly events: readonly CloudEvent[];
  readonly owner?: string;
  /** The name of the claim, if the chain began with a claim. The name determines the shard. */
  readonly claim?: string;
};

/** The chains of tickets. A chain is all tickets of one launch, which have the same correlation id. */
export interface Chains {
  /**
   * Counts one use of a chain, for instance a use of an access token, which outlives the tickets of the
   * chain. Appends the events of the use to the outbox in the same step.
   */
  use(correlationId: string, request: ChainUse): Promise<ChainUseOutcome>;
  /**
   * Ends a chain: every ticket with this correlation id becomes `unknown`, for at least the given time. The
   * time must cover the longest-lived ticket or token of the chain. If the chain was not revoked before,
   * appends the events to the outbox in the same step, under this correlation id. With `owner`, revokes only
   * a chain whose record names this owner. Returns whether `owner` may revoke the chain; always true without
   * `owner`.
   */
  revoke(correlationId: string, request: ChainRevocation): Promise<boolean>;
  /** Returns whether the chain was revoked, for tokens that outlive the tickets (access tokens). */
  isRevoked(correlationId: string): Promise<boolean>;
  /**
   * Returns the correlation id of a ticket that is live or was used, even if its chain was revoked. Changes
   * nothing.
   */
  findOf(kind: TicketKind, ticket: string): Promise<string | undefined>;
  /** Returns the record of a chain, until its absolute end, even if it was revoked. */
  findRecord(correlationId: string): Promise<ChainRecord | undefined>;
  /**
   * Lists the correlation ids of an owner's chains that have all of these labels, except chains that have
   * ended or were revoked. Lists every chain whose first ticket was issued before the call.
   * @throws TypeError without a label, because only labels are indexed
   */
  list(selection: { owner: string; labels: readonly string[] }): Promise<readonly string[]>;
}

/** Names that count once, for instance the `jti` of a signed assertion (RFC 7523 section 3). */
export interface Once {
  /**
   * Uses up a name for a limited time. If the name was unused, appends the events to the outbox in the same
   * step and resolves with true.
   */
  use(
    name: string,
    request: { readonly forSeconds: number; readonly events: readonly CloudEvent[] },
  ): Promise<boolean>;
}
