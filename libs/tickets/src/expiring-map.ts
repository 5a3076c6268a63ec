const sweepEveryMs = 10_000;

/** A map that hides an entry once it has expired, and removes expired entries when it stores a value. */
export class ExpiringMap<Value> {
  readonly #clock: { now(): number };
  readonly #entries = new Map<string, { value: Value; expiresAt: number }>();
  #sweptAt = 0;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expiresAt > this.#clock.now() ? entry.value : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value, ttlSeconds: number): void {
    this.#sweep();
    this.#entries.set(key, { value, expiresAt: this.#clock.now() + ttlSeconds * 1000 });
  }

  /** Returns the keys and values that have not expired. */
  *entries(): Generator<readonly [string, Value]> {
    const now = this.#clock.now();
    for (const [key, { value, expiresAt }] of this.#entries) if (expiresAt > now) yield [key, value];
  }

  /** Stores a value and extends its expiry, unless the entry already expires later. */
  prolong(key: string, value: Value, ttlSeconds: number): void {
    const expiresAt = this.#entries.get(key)?.expiresAt ?? 0;
    if (expiresAt < this.#clock.now() + ttlSeconds * 1000) this.set(key, value, ttlSeconds);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt < sweepEveryMs) return;
    this.#sweptAt = now;
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key);
  }
}
