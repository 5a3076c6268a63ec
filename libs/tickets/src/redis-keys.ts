import { hash as digest } from 'node:crypto';
import { drawBytes } from '@clinical-launch/crypto/random';
import type { RevocationList } from './revocations/revoked-tokens.ts';
import { type Shard, shardOfText } from './ticket-text.ts';
import { type TicketKind, ticketPurposes } from './tickets.ts';

/** Returns a name for one request, by which its repetition is recognised. */
export const drawAttempt = (): string => drawBytes(16).toString('base64url');

/**
 * Returns the names of all keys. Tickets and claims appear only as SHA-256.
 * @throws TypeError when the prefix contains braces, which delimit the hash tag
 */
export function createKeys(prefix: string) {
  if (/[{}]/.test(prefix)) throw new TypeError('A prefix of Redis keys must not contain braces');
  const key: NameKey = (shard, ...parts) => `${prefix}{s${shard}}:${parts.join(':')}`;
  // One operation hashes the same ticket several times in a row.
  let last = { text: '', hash: '' };
  const hash = (text: string) => {
    if (text !== last.text) last = { text, hash: digest('sha256', text, 'base64url') };
    return last.hash;
  };
  /** What a failover is recognised by. */
  const guard = (shard: Shard, kind: TicketKind) => [
    key(shard, 'history', ticketPurposes[kind]),
    key(shard, 'guard', ticketPurposes[kind]),
  ];

  return {
    /** The keys of a list of revocations, and the outbox of its shard. */
    revocations: (list: RevocationList) => {
      const shard = shardOfText(list);
      return {
        list: key(shard, list),
        ends: key(shard, `${list}-ends`),
        /** Counts the revocations; never lowered. */
        sequence: key(shard, `${list}-sequence`),
        endsOf: (owner: string) => key(shard, `${list}-of`, hash(owner)),
        outbox: key(shard, 'outbox'),
        committed: key(shard, 'committed'),
      };
    },
    ticket: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'ticket', kind, hash(ticket)),
    used: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'used', kind, hash(ticket)),
    /** The notice of a ticket, for its refusals. */
    notice: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'notice', kind, hash(ticket)),
    /** The result of a redemption, while it may be repeated. */
    repeatable: (shard: Shard, kind: TicketKind, ticket: string) =>
      key(shard, 'repeatable', kind, hash(ticket)),
    ...chainKeys(key, hash),
    /** A caller's identifier that was claimed with a ticket. */
    claim: (shard: Shard, name: string): ClaimKeys => {
      const bytes = digest('sha256', name, 'buffer');
      const bucket = (bytes.readUInt16BE(fieldBytes) % claimBuckets).toString(16).padStart(3, '0');
      return {
        claims: key(shard, 'claims', bucket),
        field: bytes.subarray(0, fieldBytes),
      };
    },
    /**
     * A credential that may be presented once, for instance a signed assertion. Separate from the claims,
     * which other services write.
     */
    presented: (shard: Shard, name: string) => key(shard, 'presented', hash(name)),
    /** The marker that the shard holds every recorded claim. */
    claimsComplete: (shard: Shard) => key(shard, 'claims-held'),
    rebuilding: (shard: Shard, attempt: string) => key(shard, 'claims-rebuilding', attempt),
    answer: (shard: Shard, kind: TicketKind, attempt: string) => key(shard, 'answer', kind, attempt),
    appended: (shard: Shard, attempt: string) => key(shard, 'appended', attempt),
    outbox: (shard: Shard) => key(shard, 'outbox'),
    committed: (shard: Shard) => key(shard, 'committed'),
    /** Events of the outbox that the bus would refuse. */
    rejected: (shard: Shard) => key(shard, 'rejected'),
    /** Events of refusals, separate from the outbox of accepted work: this stream is bounded. */
    refused: (shard: Shard) => key(shard, 'refused'),
    /** The channel of the shards whose streams were empty before an append. */
    waiting: (stream: 'outbox' | 'refused') => `${prefix}waiting:${stream}`,
    /** Refusals by address in the current window. */
    refusedAddresses: (shard: Shard) => key(shard, 'refused-addresses'),
    /** The leases of a client's rate at one service. */
    leases: (shard: Shard, service: string, client: string) => key(shard, 'leases', service, hash(client)),
    /** The prefix of the names of the hashes of failed attempts; their period follows. */
    attempts: (shard: Shard) => key(shard, 'failed-attempts', ''),
    guard,
    /** The further keys of the ticket scripts, in the order in which they read them. */
    common: (shard: Shard, kind: TicketKind) => [
      ...guard(shard, kind),
      key(shard, 'outbox'),
      key(shard, 'committed'),
    ],
  };
}

type NameKey = (shard: Shard, ...parts: string[]) => string;

/** Returns the names of the keys of a chain, apart from its tickets. */
const chainKeys = (key: NameKey, hash: (text: string) => string) => ({
  /** The key of a revoked chain; without a correlation id, the prefix of all of them. */
  chain: (shard: Shard, correlationId = '') => key(shard, 'revoked', correlationId),
  /** The record of a chain. */
  chainRecord: (shard: Shard, correlationId: string) => key(shard, 'chain', correlationId),
  /** A proof that was used in a chain. */
  proof: (shard: Shard, correlationId: string, name: string) =>
    key(shard, 'presented', hash(`${correlationId} ${name}`)),
  /** The number of redemptions of one kind in a chain. */
  redemptions: (shard: Shard, kind: TicketKind, correlationId: string) =>
    key(shard, 'redemptions', kind, correlationId),
  /** The number of uses of a chain in the current time. */
  uses: (shard: Shard, correlationId: string) => key(shard, 'uses', correlationId),
});

/** The hash and the field of a claim. */
export type ClaimKeys = { readonly claims: string; readonly field: Buffer };

export type Keys = ReturnType<typeof createKeys>;
export type RevocationKeys = ReturnType<Keys['revocations']>;

/** Of each shard. Millions of claims are some dozens in each hash, of which Redis stores 512 in a list. */
const claimBuckets = 4096;
/** 128 bits of a SHA-256. */
const fieldBytes = 16;

export const defaultPrefix = 'clinical-launch:';

/**
 * Milliseconds that the answer to a request is stored for its repetition; far longer than any client repeats.
 */
export const rememberMs = 60_000;
