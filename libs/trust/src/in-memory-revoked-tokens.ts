import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import {
  defaultMaxRevokedTokens,
  type RevokedPage,
  type RevokedTokens,
  type RevokeOutcome,
  revokedTokensPerPage,
  type TokenRevocation,
} from './revoked-tokens.ts';

export type InMemoryRevokedTokensDependencies = {
  readonly clock: { now(): number };
  readonly outbox: { append(events: readonly CloudEvent[]): Promise<void> };
  /** The maximum number of unexpired entries of an owner. */
  readonly maxTokens?: number;
};

type Entry = { readonly owner: string; readonly sequence: number; readonly endsAt: number };

/** The revoked tokens of one process. */
export class InMemoryRevokedTokens implements RevokedTokens {
  readonly #clock: InMemoryRevokedTokensDependencies['clock'];
  readonly #outbox: InMemoryRevokedTokensDependencies['outbox'];
  readonly #maxTokens: number;
  /** The entries by token id, in the order of their sequence numbers. */
  readonly #entries = new Map<string, Entry>();
  #sequence = 0;

  constructor({ clock, outbox, maxTokens = defaultMaxRevokedTokens }: InMemoryRevokedTokensDependencies) {
    this.#clock = clock;
    this.#outbox = outbox;
    this.#maxTokens = maxTokens;
  }

  async revoke(tokenId: string, { owner, forSeconds, events }: TokenRevocation): Promise<RevokeOutcome> {
    const now = this.#clock.now();
    for (const [id, { endsAt }] of this.#entries) if (endsAt <= now) this.#entries.delete(id);
    if (this.#entries.has(tokenId)) return { outcome: 'revoked' };
    const ends = [...this.#entries.values()]
      .filter((entry) => entry.owner === owner)
      .map(({ endsAt }) => endsAt);
    if (ends.length >= this.#maxTokens)
      return { outcome: 'full', retryAfterSeconds: (Math.min(...ends) - now) / 1000 };
    this.#sequence += 1;
    this.#entries.set(tokenId, { owner, sequence: this.#sequence, endsAt: now + forSeconds * 1000 });
    await this.#outbox.append(events);
    return { outcome: 'revoked' };
  }

  async has(tokenId: string): Promise<boolean> {
    return (this.#entries.get(tokenId)?.endsAt ?? 0) > this.#clock.now();
  }

  async readAfter(position = '0'): Promise<RevokedPage> {
    const now = this.#clock.now();
    const added = [...this.#entries].filter(([, { sequence }]) => sequence > Number(position));
    const page = added.slice(0, revokedTokensPerPage);
    const tokens = page
      .map(([tokenId, { endsAt }]) => ({ tokenId, forMs: endsAt - now }))
      .filter(({ forMs }) => forMs > 0);
    const hasMore = added.length > page.length;
    const last = hasMore ? page.at(-1)?.[1].sequence : this.#sequence;
    return { position: String(last), hasMore, tokens };
  }
}
