import type { Logger } from '@clinical-launch/runtime/logger';
import { type Loop, type LoopOptions, startLoop } from '@clinical-launch/runtime/loop';

type RepeatedOptions = Pick<LoopOptions, 'work' | 'everyMs' | 'gatherMs'> & {
  readonly name: string;
  readonly logger: Logger;
};

/**
 * Starts background work, which runs immediately and then at intervals. Logs only the first of several
 * consecutive failures.
 */
export const startRepeated = ({ name, logger, ...options }: RepeatedOptions): Loop =>
  startLoop({
    ...options,
    ref: false,
    onFailure(error, failures) {
      if (failures === 1)
        logger.error({ err: error, work: name }, 'background work of the audit trail failed');
    },
  });
