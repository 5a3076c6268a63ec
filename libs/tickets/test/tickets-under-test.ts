import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { type RedisClient } from '@clinical-launch/redis/redis-scripts';
import { aPrefix, createTickets, sentBy } from '@clinical-launch/testing/ticket-fixtures';
import type { Chains, Once } from '../src/chains.ts';
import { createInMemoryTickets } from '../src/in-memory-tickets.ts';
import { RedisChains, RedisOnce } from '../src/redis-chains.ts';
import type { Tickets } from '../src/tickets.ts';

/** An implementation of `Tickets`, `Chains` and `Once`, as the suites use it. */
export type TicketsUnderTest = {
  readonly tickets: Tickets;
  readonly chains: Chains;
  readonly once: Once;
  /** Returns all events of the outbox, in order. */
  readonly outbox: () => Promise<readonly CloudEvent[]>;
  /** Lets time pass for everything that is stored. */
  readonly pass: (seconds: number) => Promise<void>;
};

/** Creates tickets in memory, with a clock of their own. */
export function inMemory(usedMarkerSeconds = 86_400): TicketsUnderTest {
  let now = 0;
  const sent: CloudEvent[] = [];
  const outbox = { append: async (events: readonly CloudEvent[]) => void sent.push(...events) };
  return {
    ...createInMemoryTickets({ clock: { now: () => now }, outbox, usedMarkerSeconds }),
    outbox: async () => sent,
    async pass(seconds) {
      now += seconds * 1000;
    },
  };
}

/** Moves the expiry of a key, and the times that it contains, towards the past. Expired keys are removed. */
const passScript = `
local key, ms = KEYS[1], tonumber(ARGV[1])
local function earlier(time) return string.format('%.0f', tonumber(time) - ms) end
local type = redis.call('TYPE', key).ok
if string.find(key, ':labelled:') then
  for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, -ms, id) end
elseif string.find(key, ':claims:') then
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local ends = struct.unpack('>I6', all[i + 1])
    redis.call('HSET', key, all[i], struct.pack('>I6', math.max(ends - ms, 0)) .. string.sub(all[i + 1], 7))
  end
elseif type == 'hash' then
  for _, field in ipairs({ 'endsat', 'redeemedat', 'besideat' }) do
    local times = redis.call('HGET', key, field)
    if times then redis.call('HSET', key, field, (string.gsub(times, '%d+', earlier))) end
  end
end
local ends = redis.call('PEXPIRETIME', key)
if ends > 0 then redis.call('PEXPIREAT', key, ends - ms) end`;

/** Creates tickets in Redis, under a new prefix. */
export function onRedis(redis: RedisClient, usedMarkerSeconds = 86_400): TicketsUnderTest {
  const prefix = aPrefix();
  return {
    tickets: createTickets(redis, prefix, { usedMarkerSeconds }),
    chains: new RedisChains({ redis, prefix }),
    once: new RedisOnce({ redis, prefix }),
    outbox: sentBy(new RedisOutbox({ redis, prefix })),
    async pass(seconds) {
      const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
      const found = await Promise.all(nodes.map((node) => node.keys(`${prefix}*`)));
      await Promise.all(found.flat().map((each) => redis.eval(passScript, 1, each, seconds * 1000)));
    },
  };
}
