import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { statementSpans } from './statement-spans.ts';
import { measureServer, type SchemaWait, type Storage, storageOn } from './storage.ts';
import { StorageUnavailable, withoutValues } from './storage-errors.ts';

export type PostgresStorageOptions = {
  /** `postgres://user:password@host:port/database`, with `?sslmode=` and other libpq parameters. */
  readonly url: string;
  /** The name of the connections in `pg_stat_activity`. */
  readonly applicationName: string;
  /**
   * The maximum number of connections of this process. The sum over all replicas must stay below
   * `max_connections`.
   */
  readonly poolSize?: number;
  /** The maximum milliseconds to connect, or to wait for a connection of the pool. */
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  /**
   * The milliseconds that a transaction may be idle in the database. This time is longer than an outbox may
   * take to publish.
   */
  readonly idleInTransactionTimeoutMs?: number;
  readonly schemaWait?: SchemaWait;
  /** Called when an idle connection is lost. The pool replaces it automatically. */
  readonly onConnectionLost?: (error: Error) => void;
};

/**
 * Milliseconds that the driver waits beyond the server's own timeout before it treats the server as frozen.
 */
const frozenAfterMs = 2_000;

/**
 * Opens a PostgreSQL database through a pool. Connects with the first query, and reconnects automatically. A
 * query that cannot reach the server, or loses it, is rejected with `StorageUnavailable`. It is not retried
 * here, because only the caller knows whether a retry is safe. Types are as on PGlite: int8 and numeric are
 * strings.
 */
export async function openPostgresStorage(options: PostgresStorageOptions): Promise<Storage> {
  const { poolSize = 10, statementTimeoutMs = 5_000, idleInTransactionTimeoutMs = 20_000 } = options;
  const connection = connectionConfig(options);
  const { database, pool } = openDatabase(options, {
    ...connection,
    application_name: options.applicationName,
    max: poolSize,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + frozenAfterMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  });
  // Migrations have no statement timeout, because a migration, or the wait for another replica, may take
  // long. They use one connection, which holds the lock.
  const openMigrations = () =>
    openDatabase(options, {
      ...connection,
      application_name: `${options.applicationName} migration`,
      max: 1,
      // Limits how long a replica whose host fails during a migration can block other replicas.
      idle_in_transaction_session_timeout: 60_000,
    }).database;
  return {
    ...storageOn(database, { openMigrations, schemaWait: options.schemaWait }),
    load: {
      server: () => measureServer(database),
      pool: () => ({
        idle: pool.idleCount,
        used: pool.totalCount - pool.idleCount,
        max: poolSize,
        // Subtracts the requests that get an idle connection in the next tick: `waitingCount` includes them.
        pending: Math.max(0, pool.waitingCount - pool.idleCount),
      }),
    },
  };
}

function connectionConfig({ url, connectTimeoutMs = 3_000, lockTimeoutMs = 3_000 }: PostgresStorageOptions) {
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    lock_timeout: lockTimeoutMs,
    keepAlive: true,
    // If the planner expects too many rows, JIT compilation of a query takes 700 ms. Without it, the query
    // takes 20 ms.
    options: '-c jit=off',
  };
}

function openDatabase({ onConnectionLost }: PostgresStorageOptions, config: pg.PoolConfig) {
  const pool = new pg.Pool(config);
  pool.on('error', (error) => onConnectionLost?.(error));
  // Between two queries of a transaction nothing else listens for `error`, so the event would end the
  // process. With this listener, the next query fails instead.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const dialect = new PostgresDialect({ pool: loggedPool(pool) });
  return { database: new Kysely<Record<never, never>>({ dialect, ...statementSpans() }), pool };
}

/** Returns the pool, with errors that show whether the server or the statement failed. */
function loggedPool(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    connect: () => pool.connect().then((client) => new TellingClient(client), rejectAsStorageError),
    end: () => pool.end(),
  };
}

class TellingClient implements PostgresPoolClient {
  readonly #client: PostgresPoolClient;
  #isLost = false;

  constructor(client: PostgresPoolClient) {
    this.#client = client;
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    query: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof query !== 'string') throw new TypeError('Streaming results is not supported');
    return this.#client.query<Row>(query, parameters).catch((error: unknown) => {
      const reported = asStorageError(error);
      this.#isLost ||= reported !== error && !isTimeout(error);
      throw reported;
    });
  }

  /** Destroys a failed connection, because it may still be waiting for an answer that timed out. */
  release(destroy = false): void {
    this.#client.release(destroy || this.#isLost);
  }
}

function rejectAsStorageError(error: unknown): never {
  throw asStorageError(error);
}

/**
 * SQLSTATEs (PostgreSQL manual, appendix A) that describe the server's state and not the statement: class 08
 * connection exception, class 53 insufficient resources, 57P0x shutdown, crash and start-up, 25P03 and 25P04
 * a session that was ended because its transaction was idle or took too long.
 */
const unavailableState = /^(08|53|57P0|25P0[34])/;

/**
 * A statement that exceeds its timeout, or waits too long for a lock, shows that the server is overloaded. Its
 * connection stays usable.
 */
const isTimeout = (error: unknown) =>
  error instanceof pg.DatabaseError && ['57014', '55P03'].includes(error.code ?? '');

/**
 * Converts an error of a pg connection for callers of the storage. If the server or its load caused it, returns
 * `StorageUnavailable`. If the statement caused it, returns the error itself without values (23505 unique
 * violation, 40001 serialization failure).
 */
function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof TypeError) return error;
  // An error that is no DatabaseError means that the server did not answer. Most of these errors have no
  // code.
  const isAnswer = error instanceof pg.DatabaseError;
  const isAtFault = isAnswer && !isTimeout(error) && !unavailableState.test(error.code ?? '');
  return isAtFault ? withoutValues(error) : new StorageUnavailable(error);
}
