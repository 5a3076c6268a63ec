import { Unavailable } from '@clinical-launch/contracts/unavailable';
import { errorCode } from '@clinical-launch/runtime/logged-error';
import type { DatabaseConnection } from 'kysely';

/**
 * Thrown if the database cannot be reached, ended the connection, has no space left, or was too slow for a
 * statement. The transaction was rolled back. If the connection was lost during `commit`, the transaction may
 * instead have been committed.
 */
export class StorageUnavailable extends Unavailable {
  constructor(cause: unknown) {
    super('The database is not available', { cause });
    this.name = 'StorageUnavailable';
  }
}

/** Removes values from the errors of a connection, for a driver whose server is always available. */
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
 * Returns the error without the values of rows and parameters, so that it can be logged. Keeps the error
 * code, and names such as those of tables.
 */
export function withoutValues(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  for (const field of fieldsWithValues) Reflect.deleteProperty(error, field);
  // Error messages of class 22 (data exception) quote the value.
  const code = String(errorCode(error) ?? '');
  if (code.startsWith('22') && 'message' in error && 'stack' in error) {
    const message = `The database refused a value (${code})`;
    Object.assign(error, { message, stack: String(error.stack).replaceAll(String(error.message), message) });
  }
  return error;
}
