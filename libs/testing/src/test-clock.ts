/** A clock that advances only when a test advances it. */
export class TestClock {
  #now: number;

  constructor(startsAt: string | number = '2026-03-02T09:30:00Z') {
    this.#now = new Date(startsAt).getTime();
  }

  /** Milliseconds since 1970-01-01T00:00:00Z */
  now(): number {
    return this.#now;
  }

  advance({ seconds }: { seconds: number }): void {
    this.#now += seconds * 1000;
  }
}

/** The machine's clock, for tests with off-the-shelf clients, which cannot use another clock. */
export class MachineClock extends TestClock {
  override now(): number {
    return Date.now();
  }
}
