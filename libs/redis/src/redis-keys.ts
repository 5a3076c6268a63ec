import { hash as digest } from 'node:crypto';
import { drawBytes } from '@clinical-launch/crypto/sealing';

/**
 * Everything that changes together (a chain of tickets, its claim, their events) is in one of 16 shards, and
 * every key of a shard has its hash tag. A Redis Cluster stores them on one node, where one script can change
 * them. The number is fixed, because a ticket contains its shard.
 */
const shardCount = 16;

/** `00` to `15` */
export type Shard = string;

const shardNameOf = (shard: number): Shard => String(shard).padStart(2, '0');

export const shards: readonly Shard[] = Array.from({ length: shardCount }, (_, shard) => shardNameOf(shard));

/** Returns the shard of a text, always the same. */
export const shardOfText = (text: string): Shard =>
  shardNameOf(digest('sha256', text, 'buffer').readUInt8(0) % shardCount);

/** Returns a name for one request, by which its repetition is recognised. */
export const drawAttempt = (): string => drawBytes(16).toString('base64url');

/**
 * Returns the names of the keys of events, and the functions with which each library names its own keys.
 * @throws TypeError when the prefix contains braces, which delimit the hash tag
 */
export function createRedisKeys(prefix: string) {
  if (/[{}]/.test(prefix)) throw new TypeError('A prefix of Redis keys must not contain braces');
  const key = (shard: Shard, ...parts: string[]) => `${prefix}{s${shard}}:${parts.join(':')}`;
  // One operation hashes the same ticket several times in a row.
  let last = { text: '', hash: '' };

  return {
    /** Names a key of a shard. */
    key,
    /** Returns the SHA-256 of a text in Base64URL: a name must not show a secret, an address or a client. */
    hash: (text: string) => {
      if (text !== last.text) last = { text, hash: digest('sha256', text, 'base64url') };
      return last.hash;
    },
    outbox: (shard: Shard) => key(shard, 'outbox'),
    /** Counts the events that were ever appended. */
    committed: (shard: Shard) => key(shard, 'committed'),
    appended: (shard: Shard, attempt: string) => key(shard, 'appended', attempt),
    /** Events of the outbox that the bus would refuse. */
    rejected: (shard: Shard) => key(shard, 'rejected'),
    /** Events of refusals, separate from the outbox of accepted work: this stream is bounded. */
    refused: (shard: Shard) => key(shard, 'refused'),
    /** The channel of the shards whose streams were empty before an append. */
    waiting: (stream: 'outbox' | 'refused') => `${prefix}waiting:${stream}`,
  };
}

export type RedisKeys = ReturnType<typeof createRedisKeys>;

export const defaultPrefix = 'clinical-launch:';

/**
 * Milliseconds that the answer to a request is stored for its repetition; far longer than any client repeats.
 */
export const rememberMs = 60_000;
