import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { type Storage, storageOn } from './storage.ts';
import { asStorageError } from './storage-errors.ts';

export type PostgresStorageOptions = {
  /** `postgres://user:password@host:port/database`, with `?sslmode=` and what else libpq knows. */
  readonly url: string;
  /** What `pg_stat_activity` shows the connections as. */
  readonly applicationName: string;
  /** Connections of this process at most; the sum over all replicas must stay below `max_connections`. */
  readonly poolSize?: number;
  /** To connect, or to wait for a connection of the pool. */
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  /** How long a transaction may do nothing in the database; longer than an outbox may take to publish. */
  readonly idleInTransactionTimeoutMs?: number;
  /** Told when a connection is lost that no query was using. The pool replaces it by itself. */
  readonly onConnectionLost?: (error: Error) => void;
};

/** What the driver waits beyond the server's own time-out, before it takes the server for frozen. */
const frozenAfterMs = 2_000;

/**
 * Opens a PostgreSQL database through a pool. Connects with the first query, and again by itself after a loss.
 * A query that finds no server, or loses it, is rejected with `StorageUnavailable`; it is not repeated here, since
 * only the caller knows whether it may be. Types are as on PGlite: int8 and numeric are strings.
 */
export async function openPostgresStorage(options: PostgresStorageOptions): Promise<Storage> {
  const { poolSize = 10, statementTimeoutMs = 5_000, idleInTransactionTimeoutMs = 20_000 } = options;
  const connection = connectionConfig(options);
  const database = openDatabase(options, {
    ...connection,
    application_name: options.applicationName,
    max: poolSize,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + frozenAfterMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  });
  // A migration may take its time, and so may waiting for that of another replica. One connection: the lock is its.
  const openMigrations = () =>
    openDatabase(options, {
      ...connection,
      application_name: `${options.applicationName} migration`,
      max: 1,
      // A replica whose host died in its migration does not keep the others waiting for long.
      idle_in_transaction_session_timeout: 60_000,
    });
  return storageOn(database, openMigrations);
}

function connectionConfig({ url, connectTimeoutMs = 3_000, lockTimeoutMs = 3_000 }: PostgresStorageOptions) {
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    lock_timeout: lockTimeoutMs,
    keepAlive: true,
    // Compiling a query of ours takes 700 ms where the planner expects too many rows; running it takes 20.
    options: '-c jit=off',
  };
}

function openDatabase({ onConnectionLost }: PostgresStorageOptions, config: pg.PoolConfig) {
  const pool = new pg.Pool(config);
  pool.on('error', (error) => onConnectionLost?.(error));
  // Between two queries of a transaction nobody listens: the event would end the process. The next query tells.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Record<never, never>>({ dialect: new PostgresDialect({ pool: tellingPool(pool) }) });
}

/** The pool, with errors that tell the server's faults from the statement's. */
function tellingPool(pool: pg.Pool): PostgresPool {
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
    if (typeof query !== 'string') throw new TypeError('Results are not streamed here');
    return this.#client.query<Row>(query, parameters).catch((error: unknown) => {
      const told = asStorageError(error);
      this.#isLost ||= told !== error;
      throw told;
    });
  }

  /** A connection that failed is not given back: it may still wait for the answer that timed out. */
  release(destroy = false): void {
    this.#client.release(destroy || this.#isLost);
  }
}

function rejectAsStorageError(error: unknown): never {
  throw asStorageError(error);
}
