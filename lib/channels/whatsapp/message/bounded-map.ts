const maxEntries = 4_000;

/** A map of a few thousand contacts; the oldest entry makes room for the next. */
export class BoundedMap<V> extends Map<string, V> {
  override set(key: string, value: V): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (this.size >= maxEntries && oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}
