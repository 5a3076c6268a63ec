import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';
import { TicketsUnavailable } from './tickets.ts';

/** One Redis or a Redis Cluster, as `connectRedis` makes them. */
export type RedisClient = Redis | Cluster;

/** A Lua script: it runs as one atomic step and in one round trip. */
export type Script = { readonly lua: string; readonly sha1: string };

export type ScriptArgument = string | number;

/** Reads a script of `lua/` with the parts that it builds upon in front. */
export function readScript(...names: string[]): Script {
  const lua = names
    .map((name) => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8'))
    .join('\n');
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

/** A list as the scripts read it: its length, then its items. */
export const listOf = (items: readonly ScriptArgument[]): ScriptArgument[] => [items.length, ...items];

/** How long a request waits for a connection that is being made again, before its second and last attempt. */
const reconnectWithinMs = 1000;

/** Refusals that pass by themselves: Redis starts, fails over, moves a slot, or cannot write for the moment. */
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

/** Runs scripts, and once more when the connection failed or the reply did not come. */
export class RedisScripts {
  readonly #redis: RedisClient;
  #reconnecting: Promise<void> | undefined;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /**
   * Runs a script that gives the same answer when it is run twice with the same arguments: after a lost reply nobody
   * knows whether it ran.
   * @throws TicketsUnavailable when the second attempt fails too.
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
      throw new TicketsUnavailable('Redis does not answer', { cause: error });
    }
  }

  /**
   * Runs a script without a second attempt, for what need not succeed.
   * @throws TicketsUnavailable when Redis does not answer or cannot write.
   */
  async runOnce(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    try {
      return await this.#send(script, keys, args);
    } catch (error) {
      if (!isPassing(error)) throw error;
      throw new TicketsUnavailable('Redis does not answer', { cause: error });
    }
  }

  async #send(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    try {
      return await this.#redis.evalsha(script.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (codeOf(error) !== 'NOSCRIPT') throw error;
      return await this.#redis.eval(script.lua, keys.length, ...keys, ...args);
    }
  }

  /** Waits for the connection, not longer than a caller would. All requests that wait share one listener. */
  async #reconnected(): Promise<void> {
    if (this.#redis.status === 'ready') return;
    this.#reconnecting ??= isReady(this.#redis, reconnectWithinMs).then(() => {
      this.#reconnecting = undefined;
    });
    await this.#reconnecting;
  }
}

/** Resolves with whether the client became ready in time. */
export async function isReady(redis: RedisClient, withinMs: number): Promise<boolean> {
  if (redis.status === 'ready') return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const becomeReady = () => resolve(true);
  const timer = setTimeout(resolve, withinMs, false);
  redis.once('ready', becomeReady);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    redis.off('ready', becomeReady);
  }
}

/** The code of a refusal by Redis itself; `undefined` for what went wrong on the way to it and back. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('name' in error) || !('message' in error))
    return undefined;
  return error.name === 'ReplyError' ? String(error.message).split(' ', 1)[0] : undefined;
}

function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || passingCodes.has(code);
}
