import { hash } from 'node:crypto';

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
  shardNameOf(hash('sha256', text, 'buffer').readUInt8(0) % shardCount);
