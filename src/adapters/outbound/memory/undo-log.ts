/**
 * Takes back what one append wrote when it turns out to be impossible, as a database would roll back a transaction.
 * Every write of an append goes through it.
 */
export class UndoLog {
  readonly #steps: (() => void)[] = [];

  put<K, V>(table: Map<K, V>, key: K, value: V): void {
    const before = table.has(key) ? { value: table.get(key) as V } : null; // `has`: the value is a V
    table.set(key, value);
    this.#steps.push(() => (before === null ? table.delete(key) : table.set(key, before.value)));
  }

  delete<K, V>(table: Map<K, V>, key: K): void {
    if (!table.has(key)) return;
    const before = table.get(key) as V; // `has`: the value is a V
    table.delete(key);
    this.#steps.push(() => table.set(key, before));
  }

  add<V>(set: Set<V>, value: V): void {
    if (set.has(value)) return;
    set.add(value);
    this.#steps.push(() => set.delete(value));
  }

  remove<V>(set: Set<V>, value: V): void {
    if (set.delete(value)) this.#steps.push(() => set.add(value));
  }

  push<V>(list: V[], item: V): void {
    list.push(item);
    this.#steps.push(() => list.pop());
  }

  rollback(): void {
    for (const undo of this.#steps.splice(0).reverse()) undo();
  }
}
