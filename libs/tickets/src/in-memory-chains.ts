import { createHash } from 'node:crypto';
import type { Chains, Once } from './chains.ts';
import type { InMemoryStore } from './in-memory-store.ts';
import type { TicketKind } from './tickets.ts';

/** Returns the name under which the content of a ticket is stored. */
export const keyOf = (kind: TicketKind, ticket: string) =>
  `${kind}:${createHash('sha256').update(ticket).digest('base64url')}`;

/** The chains of `InMemoryTickets`. */
export class InMemoryChains implements Chains {
  readonly #store: InMemoryStore;

  constructor(store: InMemoryStore) {
    this.#store = store;
  }

  use: Chains['use'] = async (correlationId, { proof, limit, events }) => {
    const store = this.#store;
    if (store.isProofUsed(correlationId, proof)) return { outcome: 'used-proof' };
    const now = store.clock.now();
    const uses = store.uses.get(correlationId) ?? { endsAt: now + limit.seconds * 1000, count: 0 };
    if (uses.count >= limit.uses) return { outcome: 'limited', waitSeconds: (uses.endsAt - now) / 1000 };
    uses.count += 1;
    if (uses.count === 1) store.uses.set(correlationId, uses, limit.seconds);
    store.useProof(correlationId, proof);
    await store.append(events, correlationId);
    return { outcome: 'accepted' };
  };

  revoke: Chains['revoke'] = async (correlationId, { forSeconds, events, owner }) => {
    const store = this.#store;
    if (owner !== undefined && store.records.get(correlationId)?.owner !== owner) return false;
    const wasRevoked = store.revoked.has(correlationId);
    store.revoked.prolong(correlationId, true, forSeconds);
    if (!wasRevoked) await store.append(events, correlationId);
    return true;
  };

  isRevoked: Chains['isRevoked'] = async (correlationId) => this.#store.revoked.has(correlationId);

  findOf: Chains['findOf'] = async (kind, ticket) => {
    const key = keyOf(kind, ticket);
    return this.#store.live.get(key)?.correlationId ?? this.#store.used.get(key);
  };

  findRecord: Chains['findRecord'] = async (correlationId) => {
    const record = this.#store.records.get(correlationId);
    return record && { owner: record.owner, audience: record.audience };
  };

  list: Chains['list'] = async ({ owner, labels }) => {
    if (labels.length === 0) throw new TypeError('A search for chains needs a label');
    return [...this.#store.records.entries()].flatMap(([id, record]) => {
      const isOwned = record.owner === owner && !this.#store.revoked.has(id);
      return isOwned && labels.every((label) => record.labels.includes(label)) ? [id] : [];
    });
  };
}

/** Names that count once in this process. */
export class InMemoryOnce implements Once {
  readonly #store: InMemoryStore;

  constructor(store: InMemoryStore) {
    this.#store = store;
  }

  use: Once['use'] = async (name, { forSeconds, events }) => {
    if (this.#store.presented.has(name)) return false;
    this.#store.presented.set(name, true, forSeconds);
    await this.#store.append(events);
    return true;
  };
}
