import { hash as digest } from 'node:crypto';
import { createRedisKeys, type Shard } from '@clinical-launch/redis/redis-scripts';
import { type TicketKind, ticketPurposes } from './tickets.ts';

/**
 * Returns the functions that name the keys of tickets and of their events. The names contain tickets and
 * claims only as SHA-256.
 * @throws TypeError when the prefix contains braces, which delimit the hash tag
 */
export function createTicketKeys(prefix: string) {
  const shared = createRedisKeys(prefix);
  const { key, hash } = shared;
  /** The keys with which the scripts detect a failover of Redis. */
  const guard = (shard: Shard, kind: TicketKind) => [
    key(shard, 'history', ticketPurposes[kind]),
    key(shard, 'guard', ticketPurposes[kind]),
  ];

  return {
    ...shared,
    ticket: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'ticket', kind, hash(ticket)),
    used: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'used', kind, hash(ticket)),
    notice: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'notice', kind, hash(ticket)),
    /** The result of a redemption, while the redemption may be repeated. */
    repeatable: (shard: Shard, kind: TicketKind, ticket: string) =>
      key(shard, 'repeatable', kind, hash(ticket)),
    answer: (shard: Shard, kind: TicketKind, attempt: string) => key(shard, 'answer', kind, attempt),
    /** The key of a revoked chain; without a correlation id, the prefix of all such keys. */
    chain: (shard: Shard, correlationId = '') => key(shard, 'revoked', correlationId),
    chainRecord: (shard: Shard, correlationId: string) => key(shard, 'chain', correlationId),
    labelled: (shard: Shard, { owner, label }: { readonly owner: string; readonly label: string }) =>
      key(shard, 'labelled', hash(JSON.stringify([owner, label]))),
    proof: (shard: Shard, correlationId: string, name: string) =>
      key(shard, 'presented', hash(`${correlationId} ${name}`)),
    redemptions: (shard: Shard, kind: TicketKind, correlationId: string) =>
      key(shard, 'redemptions', kind, correlationId),
    /** The number of uses of a chain in the current window. */
    uses: (shard: Shard, correlationId: string) => key(shard, 'uses', correlationId),
    claim: (shard: Shard, name: string): ClaimKeys => {
      const bytes = digest('sha256', name, 'buffer');
      const bucket = (bytes.readUInt16BE(fieldBytes) % claimBuckets).toString(16).padStart(3, '0');
      return {
        claims: key(shard, 'claims', bucket),
        field: bytes.subarray(0, fieldBytes),
      };
    },
    /**
     * A credential that may be presented once, for instance a signed assertion. Its key has another name than
     * the keys of claims, because other services write those keys.
     */
    presented: (shard: Shard, name: string) => key(shard, 'presented', hash(name)),
    /** The marker that states that the shard contains every recorded claim. */
    claimsComplete: (shard: Shard) => key(shard, 'claims-held'),
    rebuilding: (shard: Shard, attempt: string) => key(shard, 'claims-rebuilding', attempt),
    guard,
    /** The keys that issue.lua and redeem.lua share, in the order in which the scripts read them. */
    common: (shard: Shard, kind: TicketKind) => [
      ...guard(shard, kind),
      shared.outbox(shard),
      shared.committed(shard),
    ],
  };
}

export type TicketKeys = ReturnType<typeof createTicketKeys>;

/** The key of the hash that contains a claim, and the field of the claim. */
export type ClaimKeys = { readonly claims: string; readonly field: Buffer };

/**
 * The number of hashes in each shard. With millions of claims, each hash contains dozens of claims. Redis
 * stores a hash of up to 512 fields compactly, as a listpack.
 */
const claimBuckets = 4096;
/** The length of a field name in bytes: 128 bits of a SHA-256. */
const fieldBytes = 16;
