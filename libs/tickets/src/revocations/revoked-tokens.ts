import type { CloudEvent } from '@clinical-launch/contracts';

export type TokenRevocation = {
  /** Who holds the token; each owner has a limited number of entries. */
  readonly owner: string;
  /** The rest of the token's life, with the tolerance of the verifiers' clocks. */
  readonly forSeconds: number;
  /** Go to the outbox in the same step, if the token was not revoked before. */
  readonly events: readonly CloudEvent[];
};

export type RevokeOutcome =
  | { readonly outcome: 'revoked' }
  /** The owner has no entry left; the first one becomes free after this time. Nothing was changed. */
  | { readonly outcome: 'full'; readonly retryAfterSeconds: number };

/** The revocations after a position of the list, in their order. */
export type RevokedPage = {
  /** Where to continue reading. Opaque. */
  readonly position: string;
  /** Whether there are more revocations after this page. */
  readonly hasMore: boolean;
  readonly tokens: readonly {
    readonly tokenId: string;
    /** Milliseconds until the revocation ends, with the token. */
    readonly forMs: number;
  }[];
};

/**
 * The ids (`jti`) of access tokens that were revoked before they expired. An entry ends with its token, and each
 * owner has a limited number of them, so the list is bounded. Verifiers read what was added since they last read it;
 * no request waits for that.
 */
export interface RevokedTokens {
  /**
   * Revokes a token and appends the events, in one atomic step. A token that is revoked already stays revoked,
   * without events.
   * @throws TicketsUnavailable when the store does not answer
   */
  revoke(tokenId: string, revocation: TokenRevocation): Promise<RevokeOutcome>;
  /** Returns whether a token is revoked now. @throws TicketsUnavailable when the store does not answer */
  has(tokenId: string): Promise<boolean>;
  /**
   * Returns the revocations after a position, or the whole list without one; page by page. A position that the store
   * does not know, because it lost data or another server took over, begins at the start again.
   * @throws TicketsUnavailable when the store does not answer
   */
  readAfter(position?: string): Promise<RevokedPage>;
}

/** How many live entries an owner may have, by default. Some 0.4 kB of Redis each. */
export const defaultMostRevokedTokens = 1000;

/** How many revocations one page has at most. */
export const revokedTokensPerPage = 1000;
