import { Cluster, Redis } from 'ioredis';
import { isReady, type RedisClient } from './redis-scripts.ts';

/** The logger methods that this module uses. A pino logger has them. */
export type RedisLogger = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

type ConnectOptions = {
  readonly logger?: RedisLogger;
  /**
   * The milliseconds that a starting process waits for Redis. It waits for the database equally long. Later
   * reconnections have no time limit.
   */
  readonly readyWithinMs?: number;
};

const commandOptions = {
  // The client does not retry by itself. It cannot know whether a command ran, and a plain retry of a
  // successful redemption would answer `used`. RedisScripts retries a script, which recognises the retry by
  // the id of the request.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 2000,
  connectTimeout: 5000,
  // Redis 7.0 does not know `CLIENT SETINFO`, so its access rules cannot allow the command (redis-access.ts).
  disableClientInfo: true,
} as const;

// The client must not queue commands while it is offline, because it would send them after their callers have
// stopped waiting.
const clientOptions = { enableOfflineQueue: false } as const;

/**
 * Returns the wait before an attempt to reconnect: about 25 ms, doubled up to about a second, so that a
 * restarted Redis is noticed quickly.
 */
const backoff = (times: number) => Math.min(25 * 2 ** (times - 1), 1000) * (0.75 + Math.random() / 2);

/**
 * Connects to one Redis (`redis://user:password@host:6379/0`, `rediss://` for TLS), to a Redis Cluster
 * (several addresses separated by commas, or one address with `?cluster=true`), or to the primary that
 * Sentinels name (`?sentinel=name` in one of their addresses). Resolves when Redis is ready. The client
 * reconnects with backoff from then on.
 * @throws TypeError for an invalid address, without repeating it, because it may contain a password; Error
 * when Redis is not ready in time
 */
export async function connectRedis(
  url: string,
  { logger, readyWithinMs = 120_000 }: ConnectOptions = {},
): Promise<RedisClient> {
  const redis = createClient(url.split(',').map(readAddress));
  let lastError: unknown;
  redis.on('error', (error: unknown) => {
    lastError = error;
  });
  if (logger !== undefined) logChanges(redis, logger);
  if (await isReady(redis, readyWithinMs)) return redis;
  redis.disconnect();
  throw new Error(`Redis was not ready within ${readyWithinMs} ms`, { cause: lastError });
}

type Address = ReturnType<typeof readAddress>;

function readAddress(text: string) {
  const url = URL.parse(text.trim());
  const db = Number(url?.pathname.slice(1));
  if (
    url === null ||
    !['redis:', 'rediss:'].includes(url.protocol) ||
    url.hostname === '' ||
    Number.isNaN(db)
  ) {
    throw new TypeError(
      'A Redis address must be redis://host:port, or rediss:// with TLS. Separate several addresses with commas',
    );
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 6379 : Number(url.port),
    db,
    isCluster: url.searchParams.get('cluster') === 'true',
    /** The name of the primary, if this is the address of a Sentinel. */
    sentinel: url.searchParams.get('sentinel') ?? undefined,
    credentials: {
      ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
      ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
      ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
    },
  };
}

function createClient(addresses: readonly Address[]): RedisClient {
  const [first] = addresses;
  if (first === undefined) throw new TypeError('The Redis address is missing');
  const { db, credentials } = first;
  const hosts = addresses.map(({ host, port }) => ({ host, port }));
  const options = {
    db,
    ...credentials,
    ...commandOptions,
    ...clientOptions,
    retryStrategy: backoff,
    // Sends the commands of one turn of the event loop in one write, which allows a third more requests per
    // second.
    enableAutoPipelining: true,
  };
  const primary = addresses.find(({ sentinel }) => sentinel !== undefined)?.sentinel;
  if (primary !== undefined) {
    return reconnectAlways(new Redis({ ...options, ...sentinelOptions(first, hosts, primary) }));
  }
  if (hosts.length === 1 && !first.isCluster) {
    return new Redis({ ...options, host: first.host, port: first.port });
  }
  return new Cluster(hosts, {
    ...clientOptions,
    // A cluster client uses no auto-pipelining. ioredis does not follow MOVED in a pipeline over several
    // slots, so it would never find a node that was restarted or replaced.
    redisOptions: { ...credentials, ...commandOptions },
    clusterRetryStrategy: backoff,
    // Connects by the name that the cluster announces, because a certificate contains this name and not the
    // IP address.
    ...('tls' in credentials ? { dnsLookup: (name, found) => found(null, name) } : {}),
  });
}

/** Returns the options for Sentinels. Sends the user and the password only to Redis, not to the Sentinels. */
function sentinelOptions(
  { credentials }: Address,
  sentinels: readonly { readonly host: string; readonly port: number }[],
  name: string,
) {
  return {
    sentinels: [...sentinels],
    name,
    sentinelRetryStrategy: backoff,
    // Subscribes to the Sentinels, which then report a new primary at once.
    failoverDetector: true,
    // A primary that became a replica refuses writes, so the connection must move to the new primary.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    ...('tls' in credentials ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  };
}

/**
 * Reconnects after the failover detector has ended an attempt to connect. If a Sentinel reports a new primary
 * while ioredis requests the address, ioredis stops for good, as after `disconnect`.
 */
function reconnectAlways(redis: Redis): Redis {
  // ioredis does not emit this error after our own `disconnect`.
  redis.on('error', ({ message }: Error) => {
    if (message !== 'Connection is closed.') return;
    redis.once('end', () => void redis.connect().catch(() => undefined));
  });
  return redis;
}

/**
 * Logs one line when Redis becomes unavailable and one when it is available again, however many attempts fail
 * in between.
 */
function logChanges(redis: RedisClient, logger: RedisLogger): void {
  let isReported = false;
  const reportOnce = (fields: object) => {
    if (!isReported) logger.warn(fields, 'Redis is unavailable');
    isReported = true;
  };
  redis.on('error', (error: unknown) => reportOnce({ err: error }));
  redis.on('close', () => reportOnce({}));
  redis.on('ready', () => {
    isReported = false;
    logger.info({}, 'Redis is ready');
  });
}
