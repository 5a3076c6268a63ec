import { createRedisKeys, defaultPrefix, type RedisClient, type Shard, shards } from './redis-scripts.ts';

/**
 * Notes which events wait in the outbox now. Returns a function that returns whether a relay has published
 * all of them. Later events do not count.
 * @throws the error of Redis if it does not answer
 */
export async function followOutbox({
  redis,
  prefix = defaultPrefix,
}: {
  readonly redis: RedisClient;
  readonly prefix?: string;
}): Promise<() => Promise<boolean>> {
  const { outbox } = createRedisKeys(prefix);
  const newestOf = async (shard: Shard) => {
    const [newest] = await redis.xrevrange(outbox(shard), '+', '-', 'COUNT', 1);
    return newest === undefined ? [] : [{ stream: outbox(shard), lastId: newest[0] }];
  };
  let waiting = (await Promise.all(shards.map(newestOf))).flat();
  return async () => {
    const left = await Promise.all(
      waiting.map(async (place) => {
        // A relay removes an event once the broker has accepted it.
        const older = await redis.xrange(place.stream, '-', place.lastId, 'COUNT', 1);
        return older.length > 0 ? [place] : [];
      }),
    );
    waiting = left.flat();
    return waiting.length === 0;
  };
}
