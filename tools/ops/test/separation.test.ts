import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { type EventSource, eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import { connectRabbitMq } from '@clinical-launch/events/rabbitmq-bus';
import { topologyOf } from '@clinical-launch/events/rabbitmq-topology';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { Redis } from 'ioredis';
import { brokerAccess, eventSourceNames, redisRulesOf, serviceNames } from '../src/access.ts';
import { type SeparatedParts, startSeparatedParts } from './separated-parts.ts';

let parts: SeparatedParts;
beforeAll(async () => {
  parts = await startSeparatedParts();
});
afterAll(() => parts.stop());

const settingOf = (service: EventSource, setting: string) => parts.addressesOf(service)[setting] ?? '';

describe('the access rules of Redis', () => {
  type Access = 'reads' | 'writes';
  const patterns: Readonly<Record<Access, RegExp>> = { reads: /^(?:%R)?~/, writes: /^(?:%W)?~/ };

  /** Returns the kinds of keys that the rules of a service name, except in the rule that runs scripts. */
  const kindsOf = (service: EventSource, { source }: RegExp, command = '') =>
    redisRulesOf(service)
      .filter((rule) => !rule.includes('+evalsha') && rule.includes(command))
      .flatMap((rule) => rule.replace(/[()]/g, '').split(' '))
      .flatMap((word) => new RegExp(`${source}clinical-launch:\\{s\\?\\?\\}:(.+)$`).exec(word)?.[1] ?? []);
  const kinds = new Set(eventSourceNames.flatMap((service) => kindsOf(service, /^(?:%[RW])?~/)));

  /** Returns true if the rules allow a service or the operator to read or write keys of a kind. */
  const may = (service: EventSource, access: Access, kind: string) =>
    kindsOf(service, patterns[access]).includes(kind);

  const attempts: Readonly<Record<Access, readonly (readonly string[])[]>> = {
    reads: ['GET', 'DUMP', 'HGETALL', 'XINFO STREAM', 'SMEMBERS', 'GETDEL']
      .map((command) => [...command.split(' '), 'KEY'])
      .concat([
        ['HGET', 'KEY', 'context'],
        ['HMGET', 'KEY', 'context', 'detail'],
        ['XRANGE', 'KEY', '-', '+'],
        ['XREADGROUP', 'GROUP', 'relay', 'relay', 'STREAMS', 'KEY', '>'],
        ['ZRANGE', 'KEY', '0', '-1'],
        ['COPY', 'KEY', 'OTHER'],
        ['RENAME', 'KEY', 'OTHER'],
      ]),
    writes: [
      ['SET', 'KEY', 'x'],
      ['HSET', 'KEY', 'context', 'x'],
      ['HINCRBY', 'KEY', 'count', '1'],
      ['INCRBY', 'KEY', '1'],
      ['XADD', 'KEY', '*', 'event', '{}'],
      ['XDEL', 'KEY', '0-1'],
      ['ZADD', 'KEY', '1', 'x'],
      ['DEL', 'KEY'],
      ['UNLINK', 'KEY'],
      ['PEXPIRE', 'KEY', '1'],
      ['PERSIST', 'KEY'],
      ['RENAME', 'OTHER', 'KEY'],
      ['COPY', 'OTHER', 'KEY'],
    ],
  };

  const refused = /NOPERM|can't access|can't publish|can't run|not allowed/;

  /** Returns the commands that were not refused, either directly or within a script. */
  async function allowed(redis: Redis, commands: readonly (readonly string[])[]): Promise<string[]> {
    const answers = await Promise.all(
      commands.flatMap(([name = '', ...args]) => {
        const inScript = `return redis.call('${name}', unpack(ARGV))`;
        return [
          redis.call(name, ...args).then(String, (error: Error) => error.message),
          redis.eval(inScript, 0, ...args).then(String, (error: Error) => error.message),
        ];
      }),
    );
    return answers.flatMap((answer, at) =>
      refused.test(answer) ? [] : [`${commands[Math.floor(at / 2)]?.join(' ')}: ${answer}`],
    );
  }

  async function withRedis<Result>(service: EventSource, work: (redis: Redis) => Promise<Result>) {
    const redis = new Redis(settingOf(service, 'REDIS_URL'), { disableClientInfo: true });
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }

  it.each(eventSourceNames)('let %s read and write only the keys of its own work', async (service) => {
    await withRedis(service, async (redis) => {
      for (const access of ['reads', 'writes'] as const) {
        const foreign = [...kinds].filter((kind) => !may(service, access, kind));
        expect(foreign.length).toBeGreaterThan(5);
        for (const kind of foreign) {
          const key = `clinical-launch:{s00}:${kind.replace('*', 'x')}`;
          const commands = attempts[access].map((command) =>
            command.map((word) => word.replace('KEY', key).replace('OTHER', `${key}-other`)),
          );
          expect({ kind, access, allowed: await allowed(redis, commands) }).toEqual({
            kind,
            access,
            allowed: [],
          });
        }
      }
    });
  });

  it.each(eventSourceNames)('prevent %s from listing keys or administering the server', async (service) => {
    const commands = [
      'KEYS *',
      'SCAN 0',
      'RANDOMKEY',
      'DBSIZE',
      'FLUSHALL',
      'FLUSHDB',
      'SWAPDB 0 1',
      'CONFIG GET maxmemory',
      'CONFIG SET maxmemory 1',
      'CONFIG REWRITE',
      'ACL LIST',
      'ACL SETUSER mine on nopass +@all',
      'ACL SAVE',
      'SCRIPT FLUSH',
      'SCRIPT KILL',
      'FUNCTION LIST',
      'DEBUG OBJECT x',
      'CLIENT LIST',
      'CLIENT KILL ID 1',
      'MONITOR',
      'SHUTDOWN NOSAVE',
      'SAVE',
      'BGREWRITEAOF',
      'REPLICAOF 127.0.0.1 1',
      'SLOWLOG GET',
      'MODULE LIST',
      'CLUSTER RESET',
      'PUBLISH x y',
      'SUBSCRIBE x',
      // Only the audit trail may listen for appended events, because it runs the relay.
      ...(service === 'audit-trail' ? [] : ['SUBSCRIBE clinical-launch:waiting:outbox']),
      'SET another-prefix:x y',
      'GET another-prefix:x',
    ].map((command) => command.split(' '));
    await withRedis(service, async (redis) => expect(await allowed(redis, commands)).toEqual([]));
  });

  it('let only certain services issue launch tokens, revoke chains, store claims and read events', () => {
    const who = (access: Access, kind: string) =>
      eventSourceNames.filter((service) => may(service, access, kind));
    expect({
      sessions: who('reads', 'ticket:launch-session:*'),
      desktop: who('reads', 'ticket:refresh-token:*'),
      revokers: who('writes', 'revoked:*'),
      revokersOfTokens: who('writes', 'revoked-tokens').concat(who('writes', 'revoked-tokens-ends')),
      endersOfSessions: who('writes', 'ended-sessions').concat(who('writes', 'ended-sessions-ends')),
      recorders: who('writes', 'chain:*'),
      claimers: who('writes', 'claims:*'),
      readersOfEvents: who('reads', 'outbox'),
      makersOfTokens: eventSourceNames.filter((service) =>
        kindsOf(service, patterns.writes, '+hset').includes('ticket:launch-token:*'),
      ),
      resourceApi: [...kinds].filter((kind) => may('resource-api', 'reads', kind)).toSorted(),
    }).toEqual({
      sessions: ['ordering', 'order-renderer'],
      desktop: ['identity-provider'],
      revokers: ['identity-provider', 'operator'],
      revokersOfTokens: ['identity-provider', 'identity-provider'],
      endersOfSessions: ['audit-trail', 'audit-trail'],
      recorders: ['identity-provider'],
      claimers: ['launch-api', 'audit-trail'],
      readersOfEvents: ['audit-trail', 'operator'],
      makersOfTokens: ['launch-api'],
      resourceApi: [
        'appended:*',
        'committed',
        'presented:*',
        'rate:resource-api:*',
        'refused-addresses',
        'revoked:*',
        'uses:*',
      ],
    });
  });

  it('require a password, except for a health check that may only ping', async () => {
    const address = new URL(settingOf('ordering', 'REDIS_URL'));
    const as = (username: string, password: string) => {
      Object.assign(address, { username, password });
      const options = { disableClientInfo: true, enableReadyCheck: false, retryStrategy: null };
      return new Redis(address.href, options).on('error', () => undefined);
    };
    const [anyone, health] = [as('', ''), as('health', 'any')];
    await expect(anyone.ping()).rejects.toThrow('NOAUTH');
    expect(await health.ping()).toBe('PONG');
    await expect(health.info()).rejects.toThrow(refused);
    anyone.disconnect();
    health.disconnect();
  });
});

describe('the access rules of RabbitMQ', () => {
  const topology = topologyOf();
  const { events, deadLetters } = topology;
  const queueOf = (consumer: string) => topology.queueOf(consumer);
  const deadLetterQueueOf = (consumer: string) => topology.deadLetterQueueOf(consumer);
  const consumers = Object.keys(eventConsumers);
  const withBroker = serviceNames.filter((service) => brokerAccess[service] !== undefined);
  const noArguments = { durable: true };

  type Work = (channel: ConfirmChannel) => Promise<unknown>;
  type Attempt = readonly [what: string, work: Work];

  /** Returns the reply code of an operation on a separate channel, or 200 if it is allowed. */
  async function replyOn(connection: ChannelModel, work: Work): Promise<number> {
    const channel = await connection.createConfirmChannel();
    const closed = new Promise<number>((resolve) => {
      channel.on('error', (error: Error & { code?: number }) => resolve(error.code ?? 0));
    });
    const done = work(channel)
      .then(() => channel.waitForConfirms())
      .then(
        () => 200,
        () => closed,
      );
    return Promise.race([done, closed]);
  }

  /** Makes all attempts on one connection, because a refusal closes only the channel. */
  async function repliesTo(url: string, attempts: readonly Attempt[]) {
    const connection = await connect(url, { noDelay: true });
    connection.on('error', () => undefined);
    try {
      const replies = attempts.map(async ([what, work]) => [what, await replyOn(connection, work)] as const);
      return await Promise.all(replies);
    } finally {
      await connection.close().catch(() => undefined);
    }
  }

  const publish = (exchange: string, key: string) => async (channel: Channel) =>
    void channel.publish(exchange, key, Buffer.from('{}'));

  const touch = (queue: string): readonly Attempt[] => [
    [`consume ${queue}`, (channel) => channel.consume(queue, () => undefined)],
    [`get ${queue}`, (channel) => channel.get(queue)],
    [`purge ${queue}`, (channel) => channel.purgeQueue(queue)],
  ];

  const configure = (queue: string): readonly Attempt[] => [
    [`delete ${queue}`, (channel) => channel.deleteQueue(queue)],
    [`bind ${queue}`, (channel) => channel.bindQueue(queue, events, '#')],
    [`unbind ${queue}`, (channel) => channel.unbindQueue(queue, events, '#')],
    [`send to ${queue}`, publish('', queue)],
  ];

  it.each(withBroker)(
    'prevent %s from using queues or publishing event types that it does not own, or changing the topology',
    async (service) => {
      const access = brokerAccess[service];
      const own = access?.consumes ?? [];
      const attempts = [
        ...consumers.flatMap((consumer) => [
          ...(own.includes(consumer) ? [] : touch(queueOf(consumer))),
          ...touch(deadLetterQueueOf(consumer)),
          ...configure(queueOf(consumer)),
          ...configure(deadLetterQueueOf(consumer)),
          ...(own.length > 0 ? [] : [[`bury ${consumer}`, publish(deadLetters, queueOf(consumer))] as const]),
        ]),
        ...Object.keys(eventCatalogue)
          .filter((type) => !access?.publishes.some((its) => its === type))
          .map((type) => [`publish ${type}`, publish(events, type)] as const),
        ['declare a queue', (channel: Channel) => channel.assertQueue('mine')] as const,
        ['declare an exchange', (channel: Channel) => channel.assertExchange('mine', 'fanout')] as const,
        ['delete events', (channel: Channel) => channel.deleteExchange(events)] as const,
        [
          'redeclare events',
          (channel: Channel) => channel.assertExchange(events, 'topic', noArguments),
        ] as const,
        ['publish elsewhere', publish('amq.topic', 'x')] as const,
      ];
      expect(await repliesTo(settingOf(service, 'AMQP_URL'), attempts)).toEqual(
        attempts.map(([what]) => [what, 403]),
      );
    },
  );

  it.each(withBroker)('let %s publish events of its own types', async (service) => {
    const types = brokerAccess[service]?.publishes ?? [];
    const attempts = types.map((type) => [type, publish(events, type)] as const);
    expect(await repliesTo(settingOf(service, 'AMQP_URL'), attempts)).toEqual(
      types.map((type) => [type, 200]),
    );
  });

  it.each(serviceNames.filter((service) => !withBroker.includes(service)))(
    'have no user for %s',
    async (service) => {
      const url = new URL(settingOf('ordering', 'AMQP_URL'));
      const { username, password } = new URL(settingOf(service, 'REDIS_URL'));
      url.username = username;
      url.password = password;
      await expect(connect(url.href)).rejects.toThrow('ACCESS-REFUSED');
    },
  );

  it('let the operator read dead letters and send them back, but do nothing else', async () => {
    const { operatorUrl } = parts;
    const letters = deadLetterQueueOf('audit-trail');
    const replies = await repliesTo(operatorUrl, [
      ['get dead letters', (channel) => channel.get(letters)],
      ['send back', publish('', queueOf('audit-trail'))],
      ['get events', (channel) => channel.get(queueOf('audit-trail'))],
      ['publish', publish(events, 'order.submitted.v1')],
      ['delete', (channel) => channel.deleteQueue(letters)],
    ]);
    expect(replies).toEqual([
      ['get dead letters', 200],
      ['send back', 200],
      ['get events', 403],
      ['publish', 403],
      ['delete', 403],
    ]);
  });

  it('keep a service not ready while its queues are missing, because it may not declare them', async () => {
    const warnings: unknown[] = [];
    const ignore = () => undefined;
    const bus = await connectRabbitMq({
      url: settingOf('ordering', 'AMQP_URL'),
      logger: { info: ignore, error: ignore, warn: ({ err }) => void warnings.push(err) },
      knownConsumers: [{ name: 'not-declared' }],
    });
    expect(await bus.isReady()).toBe(false);
    await bus.stop();
    expect(warnings).toEqual([
      expect.objectContaining({
        message: 'An exchange or a queue is missing, and this user has no permission to declare it',
      }),
    ]);
  });
});
