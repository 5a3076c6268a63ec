const remembered = 200;

/** A map that removes its oldest entry when the map is full, because a simulator may run for a long time. */
export class Memory<Value> extends Map<string, Value> {
  override set(key: string, value: Value): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > remembered && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
