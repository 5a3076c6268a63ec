import { withTimeout } from '@clinical-launch/runtime/clock';
import { backoff, startLoop } from '@clinical-launch/runtime/loop';
import { type ChannelModel, connect } from 'amqplib';

/** A logger, such as a pino logger. The bus logs changes of its connections and failed events. */
export type BusLogger = Readonly<
  Record<'info' | 'warn' | 'error', (fields: Readonly<Record<string, unknown>>, message: string) => void>
>;

/** A connection that reconnects automatically. Its session is the value that `open` returned for it. */
export type Link<Session> = {
  /** Returns the current session, or undefined if there is no connection. */
  session(): Session | undefined;
  /** Closes the connection, after which a new connection is opened. */
  drop(cause: Error): void;
  stop(): Promise<void>;
};

export type ConnectionOptions = {
  readonly url: string;
  readonly logger: BusLogger;
  /** The shortest and the longest wait between attempts to connect, in milliseconds. */
  readonly reconnectAfterMs?: { readonly least: number; readonly most: number };
};

type LinkOptions<Session> = ConnectionOptions & {
  /** The name of the connection in the log and in the broker's list of connections. */
  readonly name: string;
  /**
   * Is called for every new connection. Opens channels, declares queues and exchanges, and calls `drop` if a
   * channel is lost.
   */
  open(connection: ChannelModel, drop: (cause: Error) => void): Promise<Session>;
  /** Closes the channels of a session, so that pending writes are sent before the connection ends. */
  close(session: Session): Promise<void>;
  /**
   * The maximum duration of `open` in milliseconds. A limit is needed because the broker does not answer for
   * a queue without a leader.
   */
  readonly openWithinMs?: number;
};

type Connected<Session> = {
  readonly session: Session;
  readonly lost: Promise<Error>;
  drop(cause: Error): void;
  close(): Promise<void>;
  destroy(): void;
};

const heartbeatSeconds = 10;
const connectWithinMs = 5000;
const defaultOpenWithinMs = 15_000;
const closeWithinMs = 2000;
/** The waits are short, so that events are sent soon after the broker is available again. */
const defaultReconnect = { least: 100, most: 3000 };

/**
 * Keeps a connection to RabbitMQ open. Retries without a limit, with exponential backoff and jitter, and logs
 * one line for each change of state. Resolves when the connection is open or the first attempt has failed, so
 * that a broker that is down does not delay the start.
 *
 * Does not use the recovery of amqplib. That recovery listens to errors only after `open`, so the process
 * would end if the connection were lost during `open`. It also waits without a limit for the broker to
 * confirm a close.
 * @throws TypeError if the address is not AMQP. The error message omits the address, which contains a
 *   password
 */
export async function keepConnected<Session>(options: LinkOptions<Session>): Promise<Link<Session>> {
  const { name, logger, reconnectAfterMs: { least, most } = defaultReconnect } = options;
  const address = addressOf(options.url);
  const tried = Promise.withResolvers<void>();
  let current: Connected<Session> | undefined;
  let isKnownDown = false;
  const exponential = backoff({ firstMs: 2 * least, maxMs: most });
  const retryAfterMs = (failures: number) => exponential(failures) * (0.5 + Math.random() / 2);

  const reportDown = (err: unknown) => {
    if (!isKnownDown) logger.warn({ connection: name, err }, 'RabbitMQ is unavailable, reconnecting');
    isKnownDown = true;
  };

  /** Connects, and waits until the connection is lost. Returns the wait before the next attempt. */
  const stayConnected = async (stopping: AbortSignal) => {
    const connected = await openConnection(options, address, stopping);
    const since = performance.now();
    current = connected;
    isKnownDown = false;
    logger.info({ connection: name }, 'RabbitMQ is connected');
    tried.resolve();
    const lost = await Promise.race([connected.lost, abortOf(stopping)]);
    current = undefined;
    if (lost === undefined) return await connected.close();
    connected.destroy();
    // A connection that is lost immediately counts as a failed attempt, so that the backoff continues.
    if (performance.now() - since <= most) throw lost;
    reportDown(lost);
    return retryAfterMs(1);
  };
  let isStopped = false;
  const loop = startLoop({
    work: stayConnected,
    everyMs: 0,
    onFailure(error) {
      if (!isStopped) reportDown(error);
      tried.resolve();
    },
    retryAfterMs,
  });
  await tried.promise;
  return {
    session: () => current?.session,
    drop: (cause) => current?.drop(cause),
    async stop() {
      isStopped = true;
      await loop.stop();
    },
  };
}

const abortOf = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

function addressOf(url: string): string {
  const address = URL.parse(url);
  if (address === null || !/^amqps?:$/.test(address.protocol)) {
    throw new TypeError('The address of RabbitMQ must be amqp://… or amqps://…');
  }
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', String(heartbeatSeconds));
  return address.href;
}

async function openConnection<Session>(
  options: LinkOptions<Session>,
  address: string,
  giveUp: AbortSignal,
): Promise<Connected<Session>> {
  const socket = new AbortController();
  const destroy = () => socket.abort();
  const { promise: lost, resolve: drop } = Promise.withResolvers<Error>();
  giveUp.addEventListener('abort', destroy);
  try {
    const connection = await connect(address, socketOptions(options.name, socket.signal));
    connection.on('error', drop);
    connection.on('close', (cause) => drop(cause ?? new Error('The broker closed the connection')));
    const session = await withTimeout(
      options.openWithinMs ?? defaultOpenWithinMs,
      Promise.race([options.open(connection, drop), lost.then((cause) => Promise.reject(cause))]),
      () => new Error('The broker does not answer'),
    );
    const closeAll = async () => {
      await options.close(session);
      await connection.close();
    };
    // A close may fail, and a broker that hangs does not confirm a close.
    const close = () =>
      withTimeout(closeWithinMs, closeAll())
        .catch(() => undefined)
        .finally(destroy);
    return { session, lost, drop, destroy, close };
  } catch (error) {
    destroy();
    throw error;
  } finally {
    giveUp.removeEventListener('abort', destroy);
  }
}

function socketOptions(name: string, signal: AbortSignal) {
  return {
    // Without `noDelay`, each small write waits until the previous write is acknowledged (Nagle's algorithm).
    noDelay: true,
    keepAlive: true,
    timeout: connectWithinMs,
    clientProperties: { connection_name: name },
    signal,
  };
}
