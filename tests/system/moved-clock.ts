import { TestClock } from '@clinical-launch/testing/test-clock';

/**
 * A clock that shows the machine's time plus the time that a test adds. It follows the machine's time because
 * off-the-shelf clients do.
 */
export class MovedClock extends TestClock {
  readonly #begunAt = super.now();

  override now(): number {
    return super.now() - this.#begunAt + Date.now();
  }
}
