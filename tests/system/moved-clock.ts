import { TestClock } from '@clinical-launch/testing/test-clock';

/**
 * A clock that shows the machine's time plus the time that a test adds. It continues with the machine's time,
 * because off-the-shelf clients use that time.
 */
export class MovedClock extends TestClock {
  readonly #begunAt = super.now();

  override now(): number {
    return super.now() - this.#begunAt + Date.now();
  }
}
