import { setTimeout as delay } from 'node:timers/promises';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { aPrefix, createTickets, sentBy } from '@clinical-launch/testing/ticket-fixtures';
import { RedisChains, RedisOnce } from '../src/redis-chains.ts';
import type { TicketsUnderTest } from './tickets-contract.ts';

/** Returns the tickets and the outbox of a Redis for the contract suite, which uses real time. */
export function redisUnderTest(redis: RedisClient, stop: () => Promise<void>): TicketsUnderTest {
  const prefix = aPrefix();
  const outbox = new RedisOutbox({ redis, prefix });
  return {
    tickets: createTickets(redis, prefix),
    chains: new RedisChains({ redis, prefix }),
    once: new RedisOnce({ redis, prefix }),
    outbox: sentBy(outbox),
    pass: (seconds) => delay(seconds * 1000),
    isTimeReal: true,
    stop,
  };
}
