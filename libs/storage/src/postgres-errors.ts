import pg from 'pg';
import { StorageUnavailable, withoutValues } from './storage-errors.ts';

/**
 * SQLSTATEs (PostgreSQL manual, appendix A) that describe the server's state and not the statement: class 08
 * connection exception, class 53 insufficient resources, 57P0x shutdown, crash and start-up, 25P03 and 25P04
 * a session that was ended because its transaction was idle or took too long.
 */
const unavailableState = /^(08|53|57P0|25P0[34])/;

/**
 * Converts an error of a pg connection for callers of the storage. If the server caused it, returns
 * `StorageUnavailable`. If the statement caused it, returns the error itself without values (23505 unique
 * violation, 40001 serialization failure, 57014 and 55P03 timeouts of the statement).
 */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof TypeError) return error;
  // An error that is no DatabaseError means that the server did not answer. Most of these errors have no
  // code.
  const isAnswer = error instanceof pg.DatabaseError;
  const isAtFault = isAnswer && !unavailableState.test(error.code ?? '');
  return isAtFault ? withoutValues(error) : new StorageUnavailable(error);
}
