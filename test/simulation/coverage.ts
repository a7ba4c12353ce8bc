/** Which states, events, faults and crash places the histories have reached, and how often. */
export type CoverageKind =
  | 'event'
  | 'outcome'
  | 'failure'
  | 'answer'
  | 'refusal'
  | 'append refused'
  | 'model'
  | 'fault'
  | 'blow'
  | 'fatal'
  | 'crash at'
  | 'command';

export class Coverage {
  readonly #counts = new Map<CoverageKind, Map<string, number>>();

  add(kind: CoverageKind, name: string, times = 1): void {
    const counts = this.#counts.get(kind) ?? new Map<string, number>();
    this.#counts.set(kind, counts);
    counts.set(name, (counts.get(name) ?? 0) + times);
  }

  merge(other: Coverage): void {
    for (const [kind, counts] of other.#counts) for (const [name, times] of counts) this.add(kind, name, times);
  }

  count(kind: CoverageKind, name: string): number {
    return this.#counts.get(kind)?.get(name) ?? 0;
  }

  names(kind: CoverageKind): readonly string[] {
    return [...(this.#counts.get(kind)?.keys() ?? [])].sort();
  }
}
