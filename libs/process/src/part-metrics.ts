import type { RedisLevel } from '@clinical-launch/redis/redis-info';
import { meter } from '@clinical-launch/runtime/metrics';
import type { DatabaseLevel, PoolLevel } from '@clinical-launch/storage/storage';
import type { TicketKind, Tickets } from '@clinical-launch/tickets/tickets';

/*
 * Metrics of the servers that this process uses, named as in the receivers of the OpenTelemetry Collector.
 * Every process measures the servers that it uses, so that no separate exporter is needed. In queries, take
 * the maximum over all processes. If a server does not answer, its metrics have no values.
 */

const gauge = (name: string, description: string, unit: string) =>
  meter().createObservableGauge(name, { description, unit });

const level = (name: string, description: string, unit: string) =>
  meter().createObservableUpDownCounter(name, { description, unit });

/** Observes the memory and the load of each primary node of Redis. */
export function observeRedis(measure: () => Promise<readonly RedisLevel[]>): void {
  const used = gauge('redis.memory.used', 'Memory that Redis has allocated', 'By');
  const limit = gauge('redis.maxmemory', 'Memory that Redis may allocate; 0 without a limit', 'By');
  const keys = gauge('redis.db.keys', 'Keys in Redis', '{key}');
  const clients = gauge('redis.clients.connected', 'Connections to Redis', '{client}');
  const commands = meter().createObservableCounter('redis.commands.processed', {
    description: 'Commands that Redis has processed',
    unit: '{command}',
  });
  meter().addBatchObservableCallback(
    async (result) => {
      for (const node of (await measure().catch(() => undefined)) ?? []) {
        const about = { 'server.address': node.address };
        result.observe(used, node.usedBytes, about);
        result.observe(limit, node.maxBytes, about);
        result.observe(keys, node.keys, about);
        result.observe(clients, node.clients, about);
        result.observe(commands, node.commands, about);
      }
    },
    [used, limit, keys, clients, commands],
  );
}

/** Observes the connections and the size of the database. */
export function observeDatabase(measure: () => Promise<DatabaseLevel>): void {
  const backends = gauge('postgresql.backends', 'Connections of all clients to the server', '{connection}');
  const limit = gauge('postgresql.connection.max', 'Connections that the server accepts', '{connection}');
  const size = gauge('postgresql.db_size', 'Size of the database on disk, without the write-ahead log', 'By');
  meter().addBatchObservableCallback(
    async (result) => {
      const measured = await measure().catch(() => undefined);
      if (measured === undefined) return;
      result.observe(backends, measured.connections);
      result.observe(limit, measured.maxConnections);
      result.observe(size, measured.bytes);
    },
    [backends, limit, size],
  );
}

/** Observes the pool of connections of this process (semantic conventions for database clients). */
export function observePool(pool: string, measure: () => PoolLevel): void {
  const about = { 'db.client.connection.pool.name': pool };
  const state = (value: 'idle' | 'used') => ({ ...about, 'db.client.connection.state': value });
  const count = level(
    'db.client.connection.count',
    'Connections in the pool, by their state',
    '{connection}',
  );
  const limit = level('db.client.connection.max', 'Connections that the pool may open', '{connection}');
  const waiting = level(
    'db.client.connection.pending_requests',
    'Requests that wait for a connection',
    '{request}',
  );
  meter().addBatchObservableCallback(
    (result) => {
      const { idle, used, max, pending } = measure();
      result.observe(count, idle, state('idle'));
      result.observe(count, used, state('used'));
      result.observe(limit, max, about);
      result.observe(waiting, pending, about);
    },
    [count, limit, waiting],
  );
}

/**
 * Counts issued tickets by kind, and attempts to redeem a ticket by kind and outcome. Successors count as
 * issued.
 */
export function countTickets(tickets: Tickets): Tickets {
  const issued = meter().createCounter('clinical_launch.tickets.issued', {
    description: 'Tickets that were issued, successors included',
    unit: '{ticket}',
  });
  const redeemed = meter().createCounter('clinical_launch.tickets.redeemed', {
    description: 'Attempts to redeem a ticket, by their outcome',
    unit: '{ticket}',
  });
  const count = (kind: TicketKind) => issued.add(1, { 'clinical_launch.ticket.kind': kind });
  return {
    ...tickets,
    async issue(kind, request) {
      const issue = await tickets.issue(kind, request);
      if (issue.outcome === 'issued') count(kind);
      return issue;
    },
    async issueAdditional(kind, request) {
      const issue = await tickets.issueAdditional(kind, request);
      if (issue.outcome === 'issued') count(kind);
      return issue;
    },
    async redeem(kind, ticket, request) {
      const redemption = await tickets.redeem(kind, ticket, request);
      const { outcome } = redemption;
      redeemed.add(1, { 'clinical_launch.ticket.kind': kind, 'clinical_launch.ticket.outcome': outcome });
      if (outcome === 'redeemed' && request.successor !== undefined) count(request.successor.kind);
      return redemption;
    },
  };
}
