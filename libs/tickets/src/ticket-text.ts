import { hash } from 'node:crypto';
import { drawBytes } from '@clinical-launch/contracts';

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

/** The shard that goes with a text, always the same one. */
export const shardOfText = (text: string): Shard =>
  nameOf(hash('sha256', text, 'buffer').readUInt8(0) % shardCount);

/** What every ticket of a chain says of it. */
export type Chain = {
  readonly shard: Shard;
  readonly correlationId: string;
  /** 128 random bits in Base64URL. Stored nowhere: only the holders of a ticket of the chain know them. */
  readonly secret: string;
};

const guidForm = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;

/** Begins a chain with a secret of its own. @throws TypeError for a correlation id that is not a GUID in lower case. */
export function beginChain(correlationId: string, shard: Shard): Chain {
  if (!guidForm.test(correlationId))
    throw new TypeError('A chain of tickets has a GUID as its correlation id');
  return { shard, correlationId, secret: drawBytes(16).toString('base64url') };
}

/**
 * Names a ticket of a chain: shard (2 characters), correlation id (22), chain secret (22), then 256 bits of its own
 * (43), which are random unless they were derived.
 */
export function nameTicket({ shard, correlationId, secret }: Chain, own: Buffer = drawBytes(32)): string {
  const guid = Buffer.from(correlationId.replaceAll('-', ''), 'hex').toString('base64url');
  return shard + guid + secret + own.toString('base64url');
}

/** Reads the chain that a ticket says it belongs to; `undefined` for a text that cannot be a ticket. */
export function readChain(ticket: string): Chain | undefined {
  if (!/^(?:0[0-9]|1[0-5])[\w-]{87}$/.test(ticket)) return undefined;
  const guid = Buffer.from(ticket.slice(2, 24), 'base64url').toString('hex');
  return {
    shard: ticket.slice(0, 2),
    correlationId: `${guid.slice(0, 8)}-${guid.slice(8, 12)}-${guid.slice(12, 16)}-${guid.slice(16, 20)}-${guid.slice(20)}`,
    secret: ticket.slice(24, 46),
  };
}
