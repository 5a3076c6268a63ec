import type { Logger } from '@clinical-launch/runtime/logger';

/** Background work that runs now and then. */
export type Repeated = {
  /** Stops after the run that is under way. */
  stop(): Promise<void>;
};

type RepeatedOptions = {
  readonly name: string;
  readonly everyMs: number;
  readonly logger: Logger;
  readonly work: () => Promise<void>;
};

/** Runs work now, and again and again, never twice at once. Logs the first failure of a row of them. */
export function startRepeated({ name, everyMs, logger, work }: RepeatedOptions): Repeated {
  let isFailing = false;
  let isBusy = false;
  const run = async () => {
    isBusy = true;
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.error({ err: error, work: name }, 'background work of the audit trail failed');
      isFailing = true;
    } finally {
      isBusy = false;
    }
  };
  let running = run();
  const timer = setInterval(() => {
    if (!isBusy) running = run();
  }, everyMs).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
