import { TestClock } from '@clinical-launch/testing/test-clock';

/**
 * A clock that follows the machine's time, which off-the-shelf clients use, plus the time that a test adds.
 */
export class MovedClock extends TestClock {
  readonly #begunAt = super.now();

  override now(): number {
    return super.now() - this.#begunAt + Date.now();
  }
}
