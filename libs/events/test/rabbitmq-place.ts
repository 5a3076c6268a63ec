import { type Channel, connect } from 'amqplib';
import { connectRabbitMq } from '../src/rabbitmq-bus.ts';
import { topologyOf } from '../src/rabbitmq-topology.ts';

/** The address of the broker that the test run started, or of a broker on this machine. */
export const brokerUrl = process.env['TEST_AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

export type LogLine = { readonly level: string; readonly message: string; readonly [field: string]: unknown };

type BusSettings = Partial<Parameters<typeof connectRabbitMq>[0]>;

/** Creates a namespace for the queues of one test, with functions that connect buses and read queues. */
export async function openPlace(url = brokerUrl) {
  const namespace = `test-${crypto.randomUUID()}`;
  const topology = topologyOf(namespace);
  const buses: Awaited<ReturnType<typeof connectRabbitMq>>[] = [];
  const consumers = new Set<string>();
  const log: LogLine[] = [];
  const write =
    (level: string) =>
    (fields: object, message: string): void =>
      void log.push({ level, message, ...fields });

  const withChannel = async <Result>(work: (channel: Channel) => Promise<Result>): Promise<Result> => {
    const connection = await connect(url, { noDelay: true });
    connection.on('error', () => undefined);
    try {
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => undefined);
      const result = await work(channel);
      await channel.waitForConfirms();
      return result;
    } finally {
      await connection.close();
    }
  };

  return {
    broker: { url, namespace },
    topology,
    log,
    withChannel,
    /** Connects a bus that reconnects quickly. `close` stops the bus and deletes its queues. */
    async connect(settings: BusSettings = {}) {
      const logger = { info: write('info'), warn: write('warn'), error: write('error') };
      const bus = await connectRabbitMq({
        url,
        namespace,
        logger,
        retryAfterMs: [1, 1],
        reconnectAfterMs: { least: 5, most: 50 },
        ...settings,
      });
      const consume = bus.consume.bind(bus);
      bus.consume = async (consumer) => {
        await consume(consumer);
        consumers.add(consumer.name);
      };
      buses.push(bus);
      return bus;
    },
    /** Returns how many messages in a queue are ready for delivery. */
    depthOf: (queue: string) =>
      withChannel(async (channel) => (await channel.checkQueue(queue)).messageCount),
    async close() {
      await Promise.all(buses.map((bus) => bus.stop()));
      await withChannel(async (channel) => {
        for (const name of consumers) {
          await channel.deleteQueue(topology.queueOf(name));
          await channel.deleteQueue(topology.deadLetterQueueOf(name));
        }
        await channel.deleteExchange(topology.events);
        await channel.deleteExchange(topology.deadLetters);
      });
    },
  };
}

export type Place = Awaited<ReturnType<typeof openPlace>>;
