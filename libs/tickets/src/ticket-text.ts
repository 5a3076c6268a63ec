import { drawBytes } from '@clinical-launch/crypto/sealing';
import type { Shard } from '@clinical-launch/redis/redis-keys';

/** The parts of every ticket that name its chain. */
export type Chain = {
  readonly shard: Shard;
  readonly correlationId: string;
  /** 128 random bits in Base64URL, never stored: only the holders of a ticket of the chain know them. */
  readonly secret: string;
};

const guidForm = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;

/**
 * Creates a chain with its own secret. @throws TypeError for a correlation id that is not a GUID in lower
 * case
 */
export function beginChain(correlationId: string, shard: Shard): Chain {
  if (!guidForm.test(correlationId))
    throw new TypeError('The correlation id of a chain of tickets must be a GUID in lower case');
  return { shard, correlationId, secret: drawBytes(16).toString('base64url') };
}

/**
 * Returns a ticket of a chain: shard (2 characters), correlation id (22), chain secret (22), then its own 256
 * bits (43), which are random unless they were derived.
 */
export function nameTicket({ shard, correlationId, secret }: Chain, own: Buffer = drawBytes(32)): string {
  const guid = Buffer.from(correlationId.replaceAll('-', ''), 'hex').toString('base64url');
  return shard + guid + secret + own.toString('base64url');
}

/**
 * Returns the correlation id of the launch that a ticket names, which is not proven until the ticket is found
 * or redeemed; `undefined` for a text that cannot be a ticket.
 */
export const launchOf = (ticket: string): string | undefined => readChain(ticket)?.correlationId;

/** Reads the chain that a ticket names; `undefined` for a text that cannot be a ticket. */
export function readChain(ticket: string): Chain | undefined {
  if (!/^(?:0[0-9]|1[0-5])[\w-]{87}$/.test(ticket)) return undefined;
  const guid = Buffer.from(ticket.slice(2, 24), 'base64url').toString('hex');
  return {
    shard: ticket.slice(0, 2),
    correlationId: `${guid.slice(0, 8)}-${guid.slice(8, 12)}-${guid.slice(12, 16)}-${guid.slice(16, 20)}-${guid.slice(20)}`,
    secret: ticket.slice(24, 46),
  };
}
