import { RedisUnavailable } from '@clinical-launch/redis/redis-scripts';
import { createRedisLab } from '@clinical-launch/testing/redis/redis-lab';
import type { RedisClusterServers } from '@clinical-launch/testing/redis/redis-server';
import { aPrefix, createTickets, issueTicket, redeemTicket } from '@clinical-launch/testing/ticket-fixtures';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeTickets } from './tickets-contract.ts';
import { onRedis } from './tickets-under-test.ts';

const lab = createRedisLab();
let cluster: RedisClusterServers;
beforeAll(async () => {
  cluster = await lab.cluster();
});
afterAll(() => lab.stop());

describeTickets('Redis Cluster of three nodes', async () => onRedis(await lab.client(cluster.url)));

it('a Redis Cluster refuses some requests while a node is down, and accepts all requests after the node restarts', async () => {
  const { url, servers } = cluster;
  const tickets = createTickets(await lab.client(url), aPrefix());
  // Issues enough tickets that every node stores some of them.
  const issueMany = () => Promise.allSettled(Array.from({ length: 200 }, () => issueTicket(tickets)));
  const isServing = async () => (await issueMany()).every(({ status }) => status === 'fulfilled');
  expect(await isServing()).toBe(true);
  const ticket = await issueTicket(tickets);
  await redeemTicket(tickets, ticket);

  await servers[0]?.kill();
  const failures = (await issueMany()).flatMap((issue) =>
    issue.status === 'rejected' ? [issue.reason] : [],
  );
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) expect(failure).toBeInstanceOf(RedisUnavailable);

  await servers[0]?.restart();
  await until(isServing);
  expect(await redeemTicket(tickets, ticket)).toMatchObject({ outcome: 'used' });
});
