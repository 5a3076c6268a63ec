import { Unavailable } from '@clinical-launch/contracts';
import type { DatabaseConnection } from 'kysely';
import pg from 'pg';

/**
 * The database cannot be reached, ended the connection, or has no room. Of a transaction nothing was kept, except
 * that a connection lost during `commit` leaves it open whether it was.
 */
export class StorageUnavailable extends Unavailable {
  constructor(cause: unknown) {
    super('The database is not available', { cause });
    this.name = 'StorageUnavailable';
  }
}

/**
 * SQLSTATE (PostgreSQL manual, appendix A) that tells of the server's state and not of the statement: class 08
 * connection exception, class 53 insufficient resources, 57P0x shutdown, crash and start-up, 25P03 and 25P04 a
 * session that was ended for idling in its transaction or for the transaction's length.
 */
const unavailableState = /^(08|53|57P0|25P0[34])/;

/**
 * The error of a pg connection as callers of the storage see it: `StorageUnavailable` when the server is at fault,
 * itself without values when the statement is (23505 unique violation, 40001 serialization failure, 57014 and 55P03
 * a time-out of the statement).
 */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof TypeError) return error;
  // What did not come from the server is the driver's word that there was no answer; most of it has no code.
  const isAnswer = error instanceof pg.DatabaseError;
  const isAtFault = isAnswer && !unavailableState.test(error.code ?? '');
  return isAtFault ? withoutValues(error) : new StorageUnavailable(error);
}

/** Makes a connection's errors tell no values; for a driver whose server cannot be away. */
export async function tellNoValues(connection: DatabaseConnection): Promise<void> {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query) =>
    execute<never>(query).catch((error: unknown) => {
      throw withoutValues(error);
    });
}

/** Where the server and the drivers repeat what a row or a statement's parameters held: patient data among it. */
const fieldsWithValues = ['detail', 'where', 'internalQuery', 'params'];

/** The error without the values of rows and parameters, so that it can be logged; its code and names remain. */
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
