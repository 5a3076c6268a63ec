import { beforeAll, it } from '@jest/globals';

/** Under a name of its own, because title and assertions are with the caller. */
const declare = it;

/** The tests of a describe block that wait until time has passed. */
export type WaitingTests = {
  /** Declares one, also in a nested block. */
  it(title: string, test: () => Promise<void>): void;
};

/**
 * Runs tests that wait all at once, before the other tests of the describe block, which would take their
 * time; each reports at its own place. To be called after the hook that prepares what they need.
 * @param isTimeReal false where a test advances a clock, which is also that of the others: they run one after
 * the other
 */
export function createWaitingTests(isTimeReal: () => boolean): WaitingTests {
  const runs: Promise<void>[] = [];
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  beforeAll(async () => {
    start();
    await Promise.allSettled(runs);
  });
  return {
    it(title, test) {
      const earlier = [...runs];
      const run = started.then(async () => {
        if (!isTimeReal()) await Promise.allSettled(earlier);
        await test();
      });
      runs.push(run);
      declare(title, () => run);
    },
  };
}
