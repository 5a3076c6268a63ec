import { randomBytes, randomUUID } from 'node:crypto';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createServiceRequestReader } from '@clinical-launch/contracts/fhir/service-request-reader';
import { defaultNamespaces } from '@clinical-launch/contracts/namespaces';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { RedisClient } from '@clinical-launch/redis/redis-scripts';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { RedisClaims } from '@clinical-launch/tickets/redis-claims';
import { RedisTickets } from '@clinical-launch/tickets/redis-tickets';
import type { Bench, Figure } from '../bench.ts';

const dayMs = 86_400_000;
const perPage = 5000;
/**
 * The number of tokens issued before the measurement, because the first keys also allocate the tables of
 * Redis.
 */
const warmUp = 2_000;

/** Measures the memory of Redis for live launch tokens and for retained originating ids. */
export const redisBytes: Bench = {
  name: 'redis-bytes',
  async run({ short, progress }) {
    const [tokens, identifiers] = short ? [5_000, 200_000] : [50_000, 1_000_000];
    const server = await startRedis();
    const redis = await connectRedis(server.url);
    try {
      progress(`${identifiers} identifiers`);
      const perIdentifier = await bytesOf(redis, identifiers, () => holdIdentifiers(redis, identifiers));
      await redis.flushall();
      progress(`${tokens} launch tokens`);
      await issueTokens(redis, warmUp);
      const perToken = await bytesOf(redis, tokens, () => issueTokens(redis, tokens));
      const figure = (name: string, value: number, atMost: number): Figure => ({
        name,
        unit: 'B',
        values: [value],
        goal: { atMost },
      });
      return [
        figure('live launch token, with its identifier and event', perToken, 1536),
        figure(`identifier kept for 400 days, of ${identifiers}`, perIdentifier, 100),
      ];
    } finally {
      redis.disconnect();
      await server.stop();
    }
  },
};

async function bytesOf(redis: RedisClient, count: number, work: () => Promise<void>): Promise<number> {
  const before = await usedMemory(redis);
  await work();
  return ((await usedMemory(redis)) - before) / count;
}

async function usedMemory(redis: RedisClient): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
}

async function holdIdentifiers(redis: RedisClient, count: number): Promise<void> {
  const claims = new RedisClaims({ redis });
  const expiresAt = Date.now() + 400 * dayMs;
  for (let at = 0; at < count; at += perPage) {
    const page = Array.from({ length: Math.min(perPage, count - at) }, () => ({
      name: randomUUID(),
      holder: 'OrderTest',
      expiresAt,
    }));
    await claims.hold(page);
  }
}

const sealer = createSealer([{ id: 'bench', key: randomBytes(32) }]);
const reading = createServiceRequestReader(defaultNamespaces)(aServiceRequest());
if (!('request' in reading)) throw new TypeError(JSON.stringify(reading.faults));
const { request } = reading;
const client = { issuer: 'https://issuer.example/emis', clientId: randomUUID(), frameAncestors: [] };

/** Issues tokens as the launch API does, with a lifetime that is longer than the measurement. */
async function issueTokens(redis: RedisClient, count: number): Promise<void> {
  const tickets = new RedisTickets({ redis, sealers: { launch: sealer } });
  const issueOne = async () => {
    const correlationId = randomUUID();
    const claim = { name: randomUUID(), holder: 'OrderTest', ttlSeconds: (400 * dayMs) / 1000 };
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    const origin = { source: '/launch-api', correlationId, traceparent, now: new Date() };
    const event = createEvent('launch.url.issued.v1', origin, {
      issuer: client.issuer,
      clientId: client.clientId,
      action: request.action,
      ttlSeconds: 10,
      claim: { name: claim.name, ttlSeconds: claim.ttlSeconds },
    });
    await tickets.issue('launch-token', {
      context: { launchId: correlationId, issuedAt: Date.now(), client, request },
      challenge: randomBytes(32).toString('base64url'),
      ttlSeconds: 3600,
      claim,
      correlationId,
      events: [event],
    });
  };
  for (let at = 0; at < count; at += 500) await Promise.all(Array.from({ length: 500 }, issueOne));
}
