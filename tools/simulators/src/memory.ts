const remembered = 200;

/** The memory of a simulator: it runs for ever, so the oldest entries are removed. */
export class Memory<Value> extends Map<string, Value> {
  override set(key: string, value: Value): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > remembered && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
