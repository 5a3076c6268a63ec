import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { ChainReader } from '../store/chain-reader.ts';
import type { Checkpoints } from '../store/checkpoints.ts';
import { startRepeated } from './read-pages.ts';

type SignOptions = {
  readonly chain: ChainReader;
  readonly checkpoints: Checkpoints;
  readonly clock: Clock;
  readonly logger: Logger;
};

const everyMs = 60_000;

/**
 * Signs the end of each partition with new rows, once a minute and when the process stops. Also logs each
 * checkpoint, so that an archive of the logs can prove a removal from the database.
 */
export function startCheckpoints({ chain, checkpoints, clock, logger }: SignOptions) {
  let isFirst = true;
  let waiting = new Set<string>();
  const sign = async () => {
    const partitions = isFirst ? await chain.partitions() : [...waiting];
    waiting = new Set();
    try {
      for (const partition of partitions) {
        const now = new Date(clock.now());
        const signed = await checkpoints.sign(partition, await chain.endOf(partition), { now, kind: 'rows' });
        if (signed !== undefined) logger.info({ checkpoint: signed.jws }, 'audit checkpoint');
      }
      isFirst = false;
    } catch (error) {
      waiting = new Set([...waiting, ...partitions]);
      throw error;
    }
  };
  const repeated = startRepeated({ name: 'sign checkpoints', everyMs, logger, work: sign });
  return {
    /** Marks partitions with new rows for signing. */
    onStored(partitions: readonly string[]): void {
      for (const partition of partitions) waiting.add(partition);
    },
    async stop(): Promise<void> {
      await repeated.stop();
      await sign().catch((error: unknown) =>
        logger.error({ err: error }, 'the last checkpoint was not signed'),
      );
    },
  };
}
