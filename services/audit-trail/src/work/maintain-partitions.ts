import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Loop } from '@clinical-launch/runtime/loop';
import { boundsOf, partitionOf } from '../domain/row-chain.ts';
import type { ChainReader } from '../store/chain-reader.ts';
import type { Checkpoints } from '../store/checkpoints.ts';
import { type AuditDatabase, dropPartition, ensurePartition } from '../store/tables.ts';
import { startRepeated } from './read-pages.ts';

type PartitionOptions = {
  readonly chain: ChainReader;
  readonly checkpoints: Checkpoints;
  readonly database: AuditDatabase;
  readonly retentionYears: number;
  readonly clock: Clock;
  readonly logger: Logger;
};

const everyMs = 3_600_000;

/**
 * Creates the partitions of this month and the next month, and drops partitions that are completely out of
 * retention. Before it drops a partition, signs a checkpoint of its end. Checkpoints are never deleted.
 */
export function startPartitions(options: PartitionOptions): Pick<Loop, 'stop'> {
  const { clock, logger, database } = options;
  const maintain = async () => {
    const now = new Date(clock.now());
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    for (const month of [now, nextMonth]) await ensurePartition(database, partitionOf(month.toISOString()));
    await dropOld(options, now);
  };
  return startRepeated({ name: 'maintain partitions', everyMs, logger, work: maintain });
}

/** Drops the partitions that are out of retention at the given time. */
export async function dropOld(
  { chain, checkpoints, database, retentionYears, logger }: Omit<PartitionOptions, 'clock'>,
  now: Date,
): Promise<void> {
  const retainedFrom = new Date(now);
  retainedFrom.setUTCFullYear(now.getUTCFullYear() - retentionYears);
  for (const partition of await chain.partitions()) {
    if (new Date(boundsOf(partition).to) > retainedFrom) continue;
    const end = await chain.endOf(partition);
    const signed = await checkpoints.sign(partition, end, { now, kind: 'drop' });
    if (signed !== undefined) logger.info({ checkpoint: signed.jws }, 'audit checkpoint');
    await dropPartition(database, partition);
    logger.info({ partition, rows: end.sequence }, 'a month of the audit trail is out of retention');
  }
}
