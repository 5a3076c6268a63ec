import { Unavailable } from '@clinical-launch/contracts';
import type { DatabaseConnection } from 'kysely';
import pg from 'pg';

/**
 * The database cannot be reached, ended the connection, or has no room. The transaction was rolled back,
 * except that after a connection lost during `commit` it may have been committed.
 */
export class StorageUnavailable extends Unavailable {
  constructor(cause: unknown) {
    super('The database is not available', { cause });
    this.name = 'StorageUnavailable';
  }
}

/**
 * SQLSTATEs (PostgreSQL manual, appendix A) that describe the server's state and not the statement: class 08
 * connection exception, class 53 insufficient resources, 57P0x shutdown, crash and start-up, 25P03 and 25P04
 * a session that was ended because it idled in its transaction or the transaction took too long.
 */
const unavailableState = /^(08|53|57P0|25P0[34])/;

/**
 * Returns the error of a pg connection for callers of the storage: `StorageUnavailable` if the server is at
 * fault, or the error itself without values if the statement is (23505 unique violation, 40001 serialization
 * failure, 57014 and 55P03 a time-out of the statement).
 */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof TypeError) return error;
  // An error that did not come from the server means that there was no answer; most of these have no code.
  const isAnswer = error instanceof pg.DatabaseError;
  const isAtFault = isAnswer && !unavailableState.test(error.code ?? '');
  return isAtFault ? withoutValues(error) : new StorageUnavailable(error);
}

/** Removes values from a connection's errors; for a driver whose server is always available. */
export async function hideValues(connection: DatabaseConnection): Promise<void> {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query) =>
    execute<never>(query).catch((error: unknown) => {
      throw withoutValues(error);
    });
}

/**
 * The fields in which the server and the drivers repeat values of rows or parameters, including patient data.
 */
const fieldsWithValues = ['detail', 'where', 'internalQuery', 'params'];

/**
 * Returns the error without the values of rows and parameters, so that it can be logged; keeps its code and
 * names.
 */
function withoutValues(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  for (const field of fieldsWithValues) Reflect.deleteProperty(error, field);
  // The messages of class 22, data exception, quote the value.
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('22') && 'message' in error && 'stack' in error) {
    const message = `The database refused a value (${code})`;
    Object.assign(error, { message, stack: String(error.stack).replaceAll(String(error.message), message) });
  }
  return error;
}
