import type { Logger } from '@clinical-launch/runtime/logger';
import { type Loop, startLoop } from '@clinical-launch/runtime/loop';

type RepeatedOptions = {
  readonly name: string;
  readonly everyMs: number;
  readonly logger: Logger;
  readonly work: () => Promise<void>;
};

/** Runs background work now and then repeatedly. Logs only the first of several consecutive failures. */
export const startRepeated = ({ name, everyMs, logger, work }: RepeatedOptions): Pick<Loop, 'stop'> =>
  startLoop({
    work,
    everyMs,
    ref: false,
    onFailure(error, failures) {
      if (failures === 1)
        logger.error({ err: error, work: name }, 'background work of the audit trail failed');
    },
  });
