import { sql } from 'kysely';
import type { AuditDatabase } from './tables.ts';

/** The partitions of the log, one for each month. Functions of the database's owner create and drop them. */
export type Partitions = {
  ensure(partition: string): Promise<void>;
  /** Drops a partition whose end was signed; an empty one needs no signature. */
  drop(partition: string): Promise<void>;
};

/** Creates the access to the partitions. */
export function createPartitions(database: AuditDatabase): Partitions {
  return {
    async ensure(partition) {
      await sql`select audit_trail.ensure_partition(${partition})`.execute(database);
    },
    async drop(partition) {
      await sql`select audit_trail.drop_partition(${partition})`.execute(database);
    },
  };
}
