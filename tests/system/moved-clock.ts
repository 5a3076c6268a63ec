import { TestClock } from '@clinical-launch/testing/test-clock';

/** The machine's time, which off-the-shelf clients use, and what a test adds to it. */
export class MovedClock extends TestClock {
  readonly #begunAt = super.now();

  override now(): number {
    return super.now() - this.#begunAt + Date.now();
  }
}
