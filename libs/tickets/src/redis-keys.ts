import { createHash, randomBytes } from 'node:crypto';
import type { TicketKind } from './tickets.ts';

/**
 * Everything of one chain (claim, ticket, successors, their events) is in one of 16 shards, and every key of a shard
 * carries its hash tag: a Redis Cluster keeps them on one node, where one script can change them together. The number
 * is fixed, since a ticket says its shard.
 */
const shardCount = 16;

/** `00` to `15` */
export type Shard = string;

const nameOf = (shard: number): Shard => String(shard).padStart(2, '0');

export const shards: readonly Shard[] = Array.from({ length: shardCount }, (_, shard) => nameOf(shard));

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** The shard that goes with a text, always the same one. */
export const shardOfText = (text: string): Shard => nameOf(sha256(text).readUInt8(0) % shardCount);

/** A ticket: its shard, then 256 bits, which are random unless they were derived. */
export const nameTicket = (shard: Shard, bits: Buffer = randomBytes(32)): string =>
  shard + bits.toString('base64url');

/** Names one request, so that its repetition is known as such. */
export const drawAttempt = (): string => randomBytes(16).toString('base64url');

/** The shard that a ticket says, or nothing for what cannot be a ticket. */
export const shardOfTicket = (ticket: string): Shard | undefined =>
  /^(?:0[0-9]|1[0-5])[\w-]{43}$/.test(ticket) ? ticket.slice(0, 2) : undefined;

/**
 * The names of all keys. Tickets and claims appear as SHA-256 alone.
 * @throws TypeError when the prefix would take the hash tag's place.
 */
export function createKeys(prefix: string) {
  if (/[{}]/.test(prefix)) throw new TypeError('A prefix of Redis keys has no braces');
  const key = (shard: Shard, ...parts: string[]) => `${prefix}{s${shard}}:${parts.join(':')}`;
  const hash = (text: string) => sha256(text).toString('base64url');

  return {
    ticket: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'ticket', kind, hash(ticket)),
    used: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'used', kind, hash(ticket)),
    /** What a redemption gave, while it may be repeated. */
    repeatable: (shard: Shard, kind: TicketKind, ticket: string) =>
      key(shard, 'repeatable', kind, hash(ticket)),
    /** Without a correlation id the beginning of the name of every chain. */
    chain: (shard: Shard, correlationId = '') => key(shard, 'revoked', correlationId),
    claim: (shard: Shard, name: string) => key(shard, 'claim', hash(name)),
    answer: (shard: Shard, attempt: string) => key(shard, 'answer', attempt),
    appended: (shard: Shard, attempt: string) => key(shard, 'appended', attempt),
    outbox: (shard: Shard) => key(shard, 'outbox'),
    committed: (shard: Shard) => key(shard, 'committed'),
    /** What the scripts of tickets need beside the tickets, in the order in which they read it. */
    common: (shard: Shard) => ['history', 'guard', 'outbox', 'committed'].map((name) => key(shard, name)),
  };
}

export type Keys = ReturnType<typeof createKeys>;

export const defaultPrefix = 'clinical-launch:';

/** How long the answer of a request is kept for its repetition; far longer than any client repeats. */
export const rememberMs = 60_000;
