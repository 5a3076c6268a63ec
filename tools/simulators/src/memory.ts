const remembered = 200;

/** The memory of a simulator: it runs for ever, so the oldest entries are removed. */
export class Memory<Kept> extends Map<string, Kept> {
  override set(key: string, value: Kept): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > remembered && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
