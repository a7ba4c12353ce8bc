/** A promise of DESIGN.md section 1. */
type Promised = 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P8' | 'P9' | 'P10' | 'P11' | 'P12' | 'P13';

/** What DESIGN.md section 7 says of one method beyond the promises. */
type OfMethod = 'deletion' | 'fork' | 'history' | 'move' | 'search' | 'update';

/**
 * What was broken: a promise; what a method does; the graceful stop of DESIGN.md section 4 (`stop`); an invariant of the
 * program, by its own account (`bug`); or everything goes on for ever (`rest`).
 */
export type Rule = Promised | OfMethod | 'stop' | 'bug' | 'rest';

export interface Broken {
  readonly rule: Rule;
  /** What was seen, in a sentence. */
  readonly message: string;
  readonly step: number;
}

/** Collects what is broken. The first breach is the one that counts: what follows is often only its shadow. */
export class Verdict {
  readonly #now: () => number;
  #broken: Broken | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  get broken(): Broken | null {
    return this.#broken;
  }

  breach(rule: Rule, message: string): void {
    this.#broken ??= { rule, message, step: this.#now() };
  }

  /** The message is only made when it is needed. */
  hold(condition: boolean, rule: Rule, message: () => string): boolean {
    if (!condition) this.breach(rule, message());
    return condition;
  }
}
