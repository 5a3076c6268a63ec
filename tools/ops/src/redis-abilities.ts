import { type TicketKind, type TicketPurpose, ticketPurposes } from '@clinical-launch/tickets/tickets';
import type { RevocationList } from '@clinical-launch/trust/revoked-tokens';

/**
 * The right to run commands on keys. Keys are named as in redis-scripts.ts, without prefix and shard. The
 * keys of a command that reads and writes are in `changes`.
 */
export type RedisRight = {
  readonly commands: readonly string[];
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly changes?: readonly string[];
  /** Channels, named as in redis-scripts.ts, without the prefix. */
  readonly channels?: readonly string[];
};

/**
 * An activity of a service in Redis, with a description for operators and the rights that its scripts need.
 */
export type RedisAbility = { readonly does: string; readonly rights: readonly RedisRight[] };

const words = (text: string): readonly string[] => text.split(' ');

/** Returns the rights to append events to a stream, which only its relay reads. */
const appending = (stream: 'outbox' | 'refused'): readonly RedisRight[] => [
  { commands: words('xlen xadd'), writes: [stream] },
  { commands: ['publish'], channels: [`waiting:${stream}`] },
  { commands: ['incrby'], changes: ['committed'] },
];

/** The right to see revoked chains, for services that redeem or find tickets. */
const seesRevoked: RedisRight = { commands: ['exists'], reads: ['revoked:*'] };
const revoking: readonly RedisRight[] = [
  { commands: ['pttl'], reads: ['revoked:*'] },
  { commands: ['set'], writes: ['revoked:*'] },
];

function guarding(purpose: TicketPurpose): readonly RedisRight[] {
  const keys = [`history:${purpose}`, `guard:${purpose}`];
  return [
    { commands: words('get pttl'), reads: keys },
    { commands: ['set'], writes: keys },
  ];
}

const making = (kind: TicketKind): RedisRight => ({
  commands: words('exists hset pexpire pexpireat'),
  writes: [`ticket:${kind}:*`],
});

/** Returns the rights to issue tickets. */
export const issues = (kind: TicketKind): RedisAbility => ({
  does: `issues ${kind}s`,
  rights: [
    making(kind),
    { commands: ['set'], writes: [`notice:${kind}:*`] },
    ...guarding(ticketPurposes[kind]),
    ...appending('outbox'),
  ],
});

/** Returns the rights to issue an additional ticket in the chain of a live ticket (`issueAdditional`). */
export const issuesAdditional = (kind: TicketKind, live: TicketKind): RedisAbility => ({
  does: `issues ${kind}s in the chain of live ${live}s`,
  rights: [
    making(kind),
    { commands: ['del'], writes: [`ticket:${kind}:*`] },
    { commands: ['hmget'], reads: [`ticket:${live}:*`] },
    { commands: ['hset'], writes: [`ticket:${live}:*`] },
    seesRevoked,
    ...guarding(ticketPurposes[kind]),
  ],
});

/** Returns the rights to find live tickets. */
export const finds = (kind: TicketKind): RedisAbility => ({
  does: `finds ${kind}s`,
  rights: [{ commands: ['hmget'], reads: [`ticket:${kind}:*`] }, seesRevoked],
});

/** Returns the rights to extend tickets that are found. */
export const extendsTicket = (kind: TicketKind): RedisAbility => ({
  does: `prolongs ${kind}s`,
  rights: [{ commands: words('pexpire pexpireat'), writes: [`ticket:${kind}:*`] }],
});

/**
 * Returns the rights to redeem tickets. A redemption renames the key of the ticket to the key of its answer.
 * The service may write an answer and read its fields, but may not rename an answer. So the service cannot
 * turn an answer back into a ticket.
 */
export const redeems = (kind: TicketKind, successor?: TicketKind): RedisAbility => {
  const [ticket, used, answer] = [`ticket:${kind}:*`, `used:${kind}:*`, `answer:${kind}:*`];
  const notice = `notice:${kind}:*`;
  return {
    does: successor === undefined ? `ends ${kind}s` : `redeems ${kind}s for ${successor}s`,
    rights: [
      { commands: ['hmget'], reads: [ticket, answer] },
      { commands: ['get'], reads: [used, notice] },
      { commands: ['set'], writes: [used] },
      { commands: ['rename'], changes: [ticket], writes: [answer] },
      { commands: words('exists hset pexpire'), writes: [answer] },
      ...(successor === undefined ? [] : [making(successor)]),
      ...guarding(ticketPurposes[kind]),
      seesRevoked,
      ...appending('outbox'),
    ],
  };
};

/**
 * Returns the rights for redemptions that may be repeated, and that revoke the chain after a replay or after
 * too many wrong proofs.
 */
export const redeemsRevocably = (kind: TicketKind, successor: TicketKind): RedisAbility => {
  const [ticket, answer, repeatable] = [`ticket:${kind}:*`, `answer:${kind}:*`, `repeatable:${kind}:*`];
  const { does, rights } = redeems(kind, successor);
  return {
    does,
    rights: [
      ...rights,
      { commands: ['hincrby'], changes: [ticket] },
      { commands: ['del'], writes: [ticket] },
      { commands: ['copy'], changes: [answer, repeatable] },
      { commands: ['hmget'], reads: [repeatable] },
      { commands: words('hset pexpire pexpireat'), writes: [repeatable] },
      { commands: words('get incr pexpire pexpireat'), changes: [`redemptions:${kind}:*`] },
      ...revoking,
    ],
  };
};

const holding: RedisRight = {
  commands: words('hget hset hlen hgetall hdel pexpireat'),
  changes: ['claims:*'],
};

export const takesIdentifiers: RedisAbility = {
  does: "claims callers' identifiers",
  rights: [{ commands: ['exists'], reads: ['claims-held'] }, holding],
};

export const restoresIdentifiers: RedisAbility = {
  does: "restores callers' identifiers",
  rights: [
    { commands: ['exists'], reads: ['claims-held'] },
    { commands: ['set'], writes: ['claims-held', 'claims-rebuilding:*'] },
    { commands: words('exists del'), writes: ['claims-rebuilding:*'] },
    holding,
  ],
};

/**
 * Returns the rights for chains that begin with a ticket of this kind: to store their records and labels, to
 * find the chains by their labels, and to revoke the chains by their first ticket.
 */
export const revokesChainsOf = (kind: TicketKind): RedisAbility => ({
  does: 'records and revokes chains',
  rights: [
    { commands: words('hset pexpireat'), writes: ['chain:*'] },
    { commands: words('zremrangebyscore zadd pexpireat zrange zscore'), changes: ['labelled:*'] },
    { commands: ['hget'], reads: ['chain:*', `ticket:${kind}:*`] },
    { commands: ['hmget'], reads: ['chain:*'] },
    { commands: ['get'], reads: [`used:${kind}:*`] },
    seesRevoked,
    ...revoking,
    ...appending('outbox'),
  ],
});

/** The rights to revoke any chain by its correlation id, and to see how far the events are relayed. */
export const endsLaunches: RedisAbility = {
  does: 'ends launches',
  rights: [
    { commands: ['hget'], reads: ['chain:*'] },
    ...revoking,
    ...appending('outbox'),
    { commands: words('xrange xrevrange'), reads: ['outbox'] },
  ],
};

export const seesRevocations: RedisAbility = { does: 'sees which chains are revoked', rights: [seesRevoked] };

/** Returns the rights to add to a list of revocations, and to look up an entry. */
const addingTo = (list: RevocationList): readonly RedisRight[] => [
  {
    commands: words('zrange zrem zremrangebyscore zscore zcard zadd pexpireat pexpiretime'),
    changes: [list, `${list}-ends`, `${list}-of:*`],
  },
  { commands: ['incr'], changes: [`${list}-sequence`] },
  ...appending('outbox'),
];

export const revokesTokens: RedisAbility = {
  does: 'revokes access tokens',
  rights: addingTo('revoked-tokens'),
};

export const endsSessions: RedisAbility = {
  does: 'ends sessions of staff',
  rights: addingTo('ended-sessions'),
};

export const readsRevokedTokens: RedisAbility = {
  does: 'reads which access tokens are revoked',
  rights: [
    { commands: ['get'], reads: ['revoked-tokens-sequence'] },
    { commands: words('zrange zmscore'), reads: ['revoked-tokens', 'revoked-tokens-ends'] },
  ],
};

export const takesProofs: RedisAbility = {
  does: 'takes assertions and proofs once',
  rights: [
    { commands: ['get'], reads: ['presented:*'] },
    { commands: ['set'], writes: ['presented:*'] },
    ...appending('outbox'),
  ],
};

/** The rights to count the uses of chains. Each use is stored with its proof or its request name. */
export const usesChains: RedisAbility = {
  does: 'counts the uses of chains',
  rights: [
    { commands: words('get exists'), reads: ['presented:*', 'appended:*'] },
    { commands: ['set'], writes: ['presented:*', 'appended:*'] },
    { commands: words('get pttl incr pexpire'), changes: ['uses:*'] },
    ...appending('outbox'),
  ],
};

export const appendsEvents: RedisAbility = {
  does: 'appends events',
  rights: [{ commands: ['set'], writes: ['appended:*'] }, ...appending('outbox')],
};

export const countsRefusals: RedisAbility = {
  does: 'counts and appends refusals',
  rights: [
    { commands: words('hlen hexists pttl'), reads: ['refused-addresses'] },
    { commands: ['hincrby'], changes: ['refused-addresses'] },
    { commands: ['pexpire'], writes: ['refused-addresses'] },
    ...appending('refused'),
  ],
};

/** Returns the rights to count the requests of clients with a limit. */
export const countsRequests = (service: string): RedisAbility => ({
  does: 'counts the requests of its clients',
  rights: [
    {
      commands: words('hmget hset pexpire'),
      changes: [`rate:${service}:*`],
    },
  ],
});

export const slowsAttempts: RedisAbility = {
  does: 'slows failed attempts',
  rights: [{ commands: words('hget hlen hexists hset pexpire'), changes: ['failed-attempts:*'] }],
};

const streams = ['outbox', 'refused'];

export const relaysEvents: RedisAbility = {
  does: 'relays events',
  rights: [
    {
      commands: words('exists xautoclaim xgroup|create xreadgroup xrange xack xdel xclaim xlen'),
      changes: streams,
    },
    { commands: ['get'], reads: ['committed'] },
    { commands: ['xadd'], writes: ['rejected'] },
    { commands: ['subscribe'], channels: streams.map((stream) => `waiting:${stream}`) },
  ],
};
