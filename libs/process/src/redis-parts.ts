import type { Relay } from '@clinical-launch/events/relay';
import { RedisLimits } from '@clinical-launch/limits/redis-limits';
import { createSharedRateLimiter } from '@clinical-launch/limits/shared-rate-limit';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { assertSafeRedis, measureRedis } from '@clinical-launch/redis/redis-info';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { wakeRelays } from '@clinical-launch/redis/redis-wakes';
import { isProduction } from '@clinical-launch/runtime/mode';
import { RedisClaims } from '@clinical-launch/tickets/redis-claims';
import { RedisTickets } from '@clinical-launch/tickets/redis-tickets';
import { RedisRevokedTokens } from '@clinical-launch/trust/redis-revoked-tokens';
import { observeRedis } from './part-metrics.ts';
import { reportRejectedEvents } from './rejected-events.ts';
import { countTickets } from './ticket-metrics.ts';
import { limitParts, stopTicketParts, type TicketPartOptions, type TicketParts } from './ticket-parts.ts';
import { startRedisRelays } from './ticket-relays.ts';

/** Opens tickets, limits and the outboxes of their events on the Redis of `REDIS_URL`. */
export async function openRedisParts(options: TicketPartOptions): Promise<TicketParts> {
  const { environment, logger, eventKeys, sealers = {}, requiresCompleteClaims = false } = options;
  const redis = await connectRedis(environment.REDIS_URL ?? '', { logger });
  await assertSafeRedis(redis, { isProduction: isProduction(environment), logger });
  observeRedis(() => measureRedis(redis));
  // A prefix of its own lets several systems share one Redis.
  const place = { redis, ...(environment.REDIS_PREFIX ? { prefix: environment.REDIS_PREFIX } : {}) };
  const { writeEvent } = eventKeys;
  const outbox = new RedisOutbox({
    ...place,
    writeEvent,
    onRejected: reportRejectedEvents('tickets', logger),
  });
  const onRejected = reportRejectedEvents('refusals', logger);
  const refused = new RedisOutbox({ ...place, stream: 'refused', writeEvent, onRejected });
  const claims = new RedisClaims(place);
  const relays: Pick<Relay, 'stop'>[] = [];
  const limited = limitParts(
    options,
    ({ mostEvents }) => new RedisLimits({ ...place, mostEvents, writeEvent }),
  );
  const { refusals } = limited;
  return {
    tickets: countTickets(
      new RedisTickets({ ...place, sealers, logger, requiresCompleteClaims, writeEvent }),
    ),
    outbox,
    claims,
    revokedTokens: new RedisRevokedTokens({ ...place, writeEvent }),
    endedSessions: new RedisRevokedTokens({ ...place, list: 'ended-sessions' }),
    limiter: createSharedRateLimiter({ ...place, service: options.name }),
    ...limited,
    checks: {
      redis: () => redis.ping().then(() => true),
      ...(requiresCompleteClaims ? { claims: () => claims.areComplete() } : {}),
    },
    startRelay(bus) {
      const outboxes = { tickets: outbox, refusals: refused };
      relays.push(...startRedisRelays(outboxes, { bus, logger, wake: (woken) => wakeRelays(redis, woken) }));
    },
    async stop() {
      await stopTicketParts({ refusals, relays });
      redis.disconnect();
    },
  };
}
