import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

export type TokenRevocation = {
  /** The owner of the token. Each owner has a limited number of entries. */
  readonly owner: string;
  /** The remaining lifetime of the token, plus the clock tolerance of the verifiers. */
  readonly forSeconds: number;
  /**
   * The events to append to the outbox in the same step. They are not appended if the token is already
   * revoked.
   */
  readonly events: readonly CloudEvent[];
};

export type RevokeOutcome =
  | { readonly outcome: 'revoked' }
  /**
   * The owner has reached the limit of entries, so nothing was changed. The first entry expires after this
   * time.
   */
  | { readonly outcome: 'full'; readonly retryAfterSeconds: number };

/** The revocations after a position of the list, in order. */
export type RevokedPage = {
  /** The position of the next page, an opaque text. */
  readonly position: string;
  readonly hasMore: boolean;
  readonly tokens: readonly {
    readonly tokenId: string;
    /** Milliseconds until the token expires, which ends its revocation. */
    readonly forMs: number;
  }[];
};

/**
 * The ids (`jti`) of access tokens that were revoked before they expired. An entry expires with its token,
 * and each owner has a limited number of entries, so the list is bounded. Verifiers read new entries in the
 * background, so no request waits for the store.
 */
export interface RevokedTokens {
  /**
   * Revokes a token and appends the events, in one atomic step. If the token is already revoked, changes
   * nothing and appends no events.
   * @throws RedisUnavailable when the store does not answer
   */
  revoke(tokenId: string, revocation: TokenRevocation): Promise<RevokeOutcome>;
  /** Returns whether a token is revoked now. @throws RedisUnavailable when the store does not answer */
  has(tokenId: string): Promise<boolean>;
  /**
   * Returns a page of the revocations after a position. Without a position, starts with the first revocation.
   * If the store does not know the position, because it lost data or another server took over, starts from
   * the beginning.
   * @throws RedisUnavailable when the store does not answer
   */
  readAfter(position?: string): Promise<RevokedPage>;
}

/** The lists of a store: revoked access tokens, and sessions that staff ended by signing out. */
export type RevocationList = 'revoked-tokens' | 'ended-sessions';

/** The default maximum number of unexpired entries of an owner. An entry needs about 0.4 kB of Redis. */
export const defaultMaxRevokedTokens = 1000;

export const revokedTokensPerPage = 1000;
