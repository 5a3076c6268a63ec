import { sql } from 'kysely';
import type { AuditDatabase } from './tables.ts';

/** The partitions of the log, one for each month. Functions of the schema's owner create and drop them. */
export type Partitions = {
  ensure(partition: string): Promise<void>;
  /** Drops a partition. Its end must be signed first, unless it is empty. */
  drop(partition: string): Promise<void>;
};

/** Creates the functions that create and drop partitions. */
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
