import { hash as digest } from 'node:crypto';
import { drawBytes } from '@clinical-launch/contracts';
import { type Shard, shardOfText } from './ticket-text.ts';
import { type TicketKind, ticketPurposes } from './tickets.ts';

/** Names one request, so that its repetition is known as such. */
export const drawAttempt = (): string => drawBytes(16).toString('base64url');

/**
 * The names of all keys. Tickets and claims appear as SHA-256 alone.
 * @throws TypeError when the prefix would take the hash tag's place.
 */
export function createKeys(prefix: string) {
  if (/[{}]/.test(prefix)) throw new TypeError('A prefix of Redis keys has no braces');
  const key = (shard: Shard, ...parts: string[]) => `${prefix}{s${shard}}:${parts.join(':')}`;
  // One operation names a ticket several times in a row.
  let last = { text: '', hash: '' };
  const hash = (text: string) => {
    if (text !== last.text) last = { text, hash: digest('sha256', text, 'base64url') };
    return last.hash;
  };
  const revokedTokensShard = shardOfText('revoked-tokens');

  return {
    /** The one list of revoked tokens, and the outbox of its shard. */
    revokedTokens: {
      list: key(revokedTokensShard, 'revoked-tokens'),
      ends: key(revokedTokensShard, 'revoked-tokens-ends'),
      /** Counts the revocations; never lowered. */
      sequence: key(revokedTokensShard, 'revoked-tokens-sequence'),
      endsOf: (owner: string) => key(revokedTokensShard, 'revoked-tokens-of', hash(owner)),
      outbox: key(revokedTokensShard, 'outbox'),
      committed: key(revokedTokensShard, 'committed'),
    },
    ticket: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'ticket', kind, hash(ticket)),
    used: (shard: Shard, kind: TicketKind, ticket: string) => key(shard, 'used', kind, hash(ticket)),
    /** What a redemption gave, while it may be repeated. */
    repeatable: (shard: Shard, kind: TicketKind, ticket: string) =>
      key(shard, 'repeatable', kind, hash(ticket)),
    /** Without a correlation id the beginning of the name of every chain. */
    chain: (shard: Shard, correlationId = '') => key(shard, 'revoked', correlationId),
    /** What is known of a chain beside its tickets. */
    chainRecord: (shard: Shard, correlationId: string) => key(shard, 'chain', correlationId),
    /** A caller's identifier, which a ticket was issued with. */
    claim: (shard: Shard, name: string) => key(shard, 'claim', hash(name)),
    /**
     * What may be presented once, for instance a signed assertion. Apart from the claims, which other services write.
     */
    presented: (shard: Shard, name: string) => key(shard, 'presented', hash(name)),
    /** Says that every recorded claim of the shard is held. */
    claimsComplete: (shard: Shard) => key(shard, 'claims-complete'),
    rebuilding: (shard: Shard, attempt: string) => key(shard, 'claims-rebuilding', attempt),
    answer: (shard: Shard, kind: TicketKind, attempt: string) => key(shard, 'answer', kind, attempt),
    appended: (shard: Shard, attempt: string) => key(shard, 'appended', attempt),
    outbox: (shard: Shard) => key(shard, 'outbox'),
    committed: (shard: Shard) => key(shard, 'committed'),
    /** Events of the outbox that the bus would refuse. */
    rejected: (shard: Shard) => key(shard, 'rejected'),
    /** Events of refusals, apart from the outbox of accepted work: this stream has a bound. */
    refused: (shard: Shard) => key(shard, 'refused'),
    /** Refusals by address in the present window. */
    refusedAddresses: (shard: Shard) => key(shard, 'refused-addresses'),
    /** The leases of a client's rate at one service. */
    leases: (shard: Shard, service: string, client: string) => key(shard, 'leases', service, hash(client)),
    /** The beginning of the names of the hashes of failed attempts; their period follows. */
    attempts: (shard: Shard) => key(shard, 'failed-attempts', ''),
    /** What the scripts of tickets need beside the tickets, in the order in which they read it. */
    common: (shard: Shard, kind: TicketKind) => [
      key(shard, 'history', ticketPurposes[kind]),
      key(shard, 'guard', ticketPurposes[kind]),
      key(shard, 'outbox'),
      key(shard, 'committed'),
    ],
  };
}

export type Keys = ReturnType<typeof createKeys>;

export const defaultPrefix = 'clinical-launch:';

/** How long the answer of a request is kept for its repetition; far longer than any client repeats. */
export const rememberMs = 60_000;
