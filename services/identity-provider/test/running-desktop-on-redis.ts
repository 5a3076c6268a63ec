import { readSharedEventKeys } from '@clinical-launch/process/event-keys';
import { openRedisParts } from '@clinical-launch/process/redis-parts';
import { openRedisOutbox } from '@clinical-launch/process/redis-relays';
import { createLogger } from '@clinical-launch/runtime/logger';
import type { Storage } from '@clinical-launch/storage/storage';
import type { TestClock } from '@clinical-launch/testing/test-clock';
import { RedisChains, RedisOnce } from '@clinical-launch/tickets/redis-chains';
import { runDesktop } from './running-desktop.ts';
import { deploymentSealer } from './running-identity-provider.ts';

type Options = {
  readonly clock: TestClock;
  readonly storage: Storage;
  readonly url: string;
  readonly prefix: string;
};

/**
 * Starts two replicas of the identity provider, which share tickets only through Redis. Their events stay in
 * the outbox, because no relay runs.
 */
export async function runDesktopOnRedis({ clock, storage, url, prefix }: Options) {
  const logger = createLogger({ level: 'silent' });
  const parts = await openRedisParts({
    environment: { REDIS_URL: url, REDIS_PREFIX: prefix },
    clock,
    logger,
    eventKeys: readSharedEventKeys({}),
    name: 'test',
    sealers: { desktop: deploymentSealer },
  });
  const outbox = openRedisOutbox(parts, { logger });
  const { tickets, location } = parts;
  const onRedis = { tickets, chains: new RedisChains(location), once: new RedisOnce(location) };
  const running = await runDesktop({ clock, storage, replicas: 2, onRedis, events: outbox });
  return {
    ...running,
    outbox,
    redis: location.redis,
    async stop() {
      await running.stop();
      await parts.stop();
    },
  };
}
