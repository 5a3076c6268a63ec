import { beforeAll, it } from '@jest/globals';

/** Jest's `it`, renamed so that the linter does not require a title and assertions here. */
const declare = it;

/** The tests of a describe block that wait for time to pass. */
export type WaitingTests = {
  /** Declares a test, which may be in a nested block. */
  it(title: string, test: () => Promise<void>): void;
};

/**
 * Runs all waiting tests at the same time, before the other tests of the describe block. Each test reports
 * its result in its place among the other tests. Call this function after the hook that prepares the tests.
 * @param isTimeReal returns false if the tests advance a shared clock, so that they must run one by one
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
