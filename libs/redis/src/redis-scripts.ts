import { createHash, hash as digest } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assertCloudEvent, type CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import { drawBytes } from '@clinical-launch/crypto/sealing';
import { withTimeout } from '@clinical-launch/runtime/clock';
import { inChildSpan } from '@clinical-launch/runtime/tracing';
import type { Cluster, Redis } from 'ioredis';

/** A client of one Redis or a Redis Cluster, as `connectRedis` creates it. */
export type RedisClient = Redis | Cluster;

/** A Lua script, which runs as one atomic step and in one round trip. */
export type Script = { readonly name: string; readonly lua: string; readonly sha1: string };

/**
 * Returns a function that reads a script from the folder `lua` in the folder of a module. The arguments of
 * the function are the names of the parts that the script needs, then the name of the script. The part
 * `shared` is in this library.
 * @param module the `import.meta.url` of the module
 */
export const createScriptReader =
  (module: string) =>
  (...names: string[]): Script => {
    const read = (name: string) =>
      readFileSync(new URL(`./lua/${name}.lua`, name === 'shared' ? import.meta.url : module), 'utf8');
    const lua = names.map(read).join('\n');
    return { name: names.at(-1) ?? '', lua, sha1: createHash('sha1').update(lua).digest('hex') };
  };

/**
 * Thrown if Redis does not answer, or cannot answer at present, so the result of the request is unknown. The
 * caller may retry the same request after `retryAfterSeconds`.
 */
export class RedisUnavailable extends Unavailable {
  constructor(message: string, options?: ConstructorParameters<typeof Unavailable>[1]) {
    super(message, options);
    this.name = 'RedisUnavailable';
  }
}

/** Milliseconds that a request waits for a new connection before its second and last attempt. */
const reconnectWithinMs = 1000;

/** Temporary errors: Redis starts, fails over, moves a slot, or cannot write at the moment. */
const passingCodes = new Set([
  'ASK',
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
]);

/** Runs scripts. `run` repeats a script once after a lost connection, a lost reply or a temporary error. */
export class RedisScripts {
  readonly #redis: RedisClient;
  #reconnecting: Promise<void> | undefined;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /**
   * Runs a script that returns the same answer if it runs twice with the same arguments. After a lost reply,
   * it is unknown whether the script ran.
   * @throws RedisUnavailable when the second attempt fails too
   */
  async run(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    try {
      return await this.#send(script, keys, args);
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await this.#reconnected();
    try {
      return await this.#send(script, keys, args);
    } catch (error) {
      if (!isPassing(error)) throw error;
      throw new RedisUnavailable('Redis does not answer', { cause: error });
    }
  }

  /**
   * Runs a script without a retry, for work that is not essential to the caller.
   * @throws RedisUnavailable when Redis does not answer or cannot write
   */
  async runOnce(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    try {
      return await this.#send(script, keys, args);
    } catch (error) {
      if (!isPassing(error)) throw error;
      throw new RedisUnavailable('Redis does not answer', { cause: error });
    }
  }

  #send(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    return inChildSpan(spanOf(script), () => this.#evaluate(script, keys, args));
  }

  async #evaluate(
    script: Script,
    keys: readonly string[],
    args: readonly ScriptArgument[],
  ): Promise<unknown> {
    try {
      return await this.#redis.evalsha(script.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (replyErrorOf(error) !== 'NOSCRIPT') throw error;
      return await this.#redis.eval(script.lua, keys.length, ...keys, ...args);
    }
  }

  /** Waits a limited time for the connection. All waiting requests share one listener. */
  async #reconnected(): Promise<void> {
    if (isUsable(this.#redis)) return;
    this.#reconnecting ??= isReady(this.#redis, reconnectWithinMs).then(() => {
      this.#reconnecting = undefined;
    });
    await this.#reconnecting;
  }
}

/**
 * Describes the run of a script (semantic conventions for Redis), without its keys and arguments. A script
 * that Redis does not know is sent again with `EVAL`, in the same span.
 */
const spanOf = ({ name }: Script) => ({
  name: `EVALSHA ${name}`,
  attributes: {
    'db.system.name': 'redis',
    'db.operation.name': 'EVALSHA',
    'db.stored_procedure.name': name,
  },
});

/** Returns whether commands can be sent. A closing connection still has the status `ready`. */
const isUsable = (redis: RedisClient): boolean =>
  redis.status === 'ready' && (!('stream' in redis) || redis.stream.writable);

/** Resolves with true if the client becomes ready in time, otherwise with false. */
export async function isReady(redis: RedisClient, withinMs: number): Promise<boolean> {
  if (isUsable(redis)) return true;
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
  redis.once('ready', becomeReady);
  return await withTimeout(withinMs, ready)
    .then(
      () => true,
      () => false,
    )
    .finally(() => redis.off('ready', becomeReady));
}

/** Returns the code of an error that Redis itself returned; `undefined` for an error of the connection. */
function replyErrorOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('name' in error) || !('message' in error))
    return undefined;
  return error.name === 'ReplyError' ? String(error.message).split(' ', 1)[0] : undefined;
}

function isPassing(error: unknown): boolean {
  const code = replyErrorOf(error);
  return code === undefined || passingCodes.has(code);
}

export type ScriptArgument = string | number | Buffer;

/** Returns a list as the scripts read it: its length, then its items. */
export const listOf = (items: readonly ScriptArgument[]): ScriptArgument[] => [items.length, ...items];

/** Returns a time as the scripts read it. Redis accepts no expiry below one millisecond. */
export const milliseconds = (seconds: number): number => Math.max(1, Math.round(seconds * 1000));

/** Returns a time as the scripts read it, or an empty text if there is no time. */
export const millisecondsOrNone = (seconds: number | undefined): ScriptArgument =>
  seconds === undefined ? '' : milliseconds(seconds);

/**
 * Returns the events as the outbox stores them. If the events belong to a chain, sets their correlation id to
 * that of the chain.
 * @throws TypeError for an event that the bus would refuse, because such an event must not enter the outbox
 */
export function eventTexts(
  write: EventWriter,
  events: readonly CloudEvent[],
  correlationId?: string,
): string[] {
  for (const event of events) assertCloudEvent(event);
  return events.map((event) =>
    write(correlationId === undefined ? event : { ...event, correlationid: correlationId }),
  );
}

/** Returns the items of a reply. @throws Error for a reply that is not a list */
export function listIn(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new Error('The script did not return a list');
  return reply;
}

/**
 * Keys that change together (a chain of tickets, its claim, their events) are in the same shard, one of 16.
 * Each key contains the hash tag of its shard. A Redis Cluster therefore stores a shard on one node, where
 * one script can change all its keys. The number of shards is fixed, because a ticket contains its shard.
 */
const shardCount = 16;

/** `00` to `15` */
export type Shard = string;

const shardNameOf = (shard: number): Shard => String(shard).padStart(2, '0');

export const shards: readonly Shard[] = Array.from({ length: shardCount }, (_, shard) => shardNameOf(shard));

/** Returns the shard of a text. Equal texts have the same shard. */
export const shardOfText = (text: string): Shard =>
  shardNameOf(digest('sha256', text, 'buffer').readUInt8(0) % shardCount);

/** Returns a random id for one request. A script recognises the retry of the request by this id. */
export const drawAttempt = (): string => drawBytes(16).toString('base64url');

/**
 * Returns the names of the keys of events, and the functions with which each library names its own keys.
 * @throws TypeError when the prefix contains braces, which delimit the hash tag
 */
export function createRedisKeys(prefix: string) {
  if (/[{}]/.test(prefix)) throw new TypeError('A prefix of Redis keys must not contain braces');
  const key = (shard: Shard, ...parts: string[]) => `${prefix}{s${shard}}:${parts.join(':')}`;
  // Caches the last hash, because one operation hashes the same ticket several times in a row.
  let last = { text: '', hash: '' };

  return {
    key,
    /**
     * Returns the SHA-256 of a text in Base64URL: the name of a key must not reveal a secret, an address or a
     * client.
     */
    hash: (text: string) => {
      if (text !== last.text) last = { text, hash: digest('sha256', text, 'base64url') };
      return last.hash;
    },
    outbox: (shard: Shard) => key(shard, 'outbox'),
    /** The number of all events ever appended. */
    committed: (shard: Shard) => key(shard, 'committed'),
    appended: (shard: Shard, attempt: string) => key(shard, 'appended', attempt),
    /** Events of the outbox that the bus would refuse. */
    rejected: (shard: Shard) => key(shard, 'rejected'),
    /** Events of refused requests. Unlike the outbox of accepted work, this stream has a maximum length. */
    refused: (shard: Shard) => key(shard, 'refused'),
    /** The channel that announces a shard whose stream was empty before an append. */
    waiting: (stream: 'outbox' | 'refused') => `${prefix}waiting:${stream}`,
  };
}

export type RedisKeys = ReturnType<typeof createRedisKeys>;

export const defaultPrefix = 'clinical-launch:';

/** Milliseconds that the answer to a request is stored for its retry. A retry follows far sooner. */
export const answerLifetimeMs = 60_000;
