import { Random, seedOf } from './random.ts';

/** What the world does to the processes after a step, beside the faults of single calls. */
export type Blow =
  /** The owner dies at once; the next one starts. */
  | 'kill'
  /** Everything dies at once: owner, paused owners, connections. */
  | 'kill_all'
  /** The owner freezes and another one takes the store over. */
  | 'pause'
  /** The frozen owners go on as if nothing had happened. */
  | 'wake'
  /** A client's connection breaks. */
  | 'hang_up'
  /** The owner is told to stop before it has recovered the store. */
  | 'stop';

/**
 * Everything that chance decides in a history, in lists that can be shrunk one by one. A list that ends early, or a
 * name that is missing, stands for the calmest choice.
 */
export interface Chances {
  /** Which of the tasks runs next: an index, taken modulo the number of tasks. 0 is the oldest. */
  readonly picks: readonly number[];
  /** Faults of single calls: `<name>#<how many times this was asked before>` → which fault. */
  readonly faults: Readonly<Record<string, number>>;
  readonly blows: readonly { readonly step: number; readonly blow: Blow }[];
}

/** The source of every choice. Nothing else in the simulator is random. */
export interface Decisions {
  pick(count: number): number;
  /** 0 for nothing special, else which of the other `options - 1` things happens. */
  fault(name: string, options: number): number;
  blowAfter(step: number, allowed: readonly Blow[]): Blow | null;
  /** From now on nothing bad happens; tasks are still picked at random. */
  calmDown(): void;
  /** What was decided so far, ready to be decided again. */
  readonly made: Chances;
}

export interface FaultRates {
  /** Probabilities by fault name; the part before a `:` counts for all that begin with it. */
  readonly faults: Readonly<Record<string, number>>;
  /** Probabilities for each step. */
  readonly blows: Readonly<Record<Blow, number>>;
  /** How often the oldest task is picked without drawing. */
  readonly calm: number;
}

/** Beyond it nothing falls any more: where every start is killed, no history comes to rest. */
const mostBlows = 100;

/** Draws from a seed, and writes down what was drawn. */
export class DrawnDecisions implements Decisions {
  readonly #random: Random;
  /** Early stops have a source of their own: where none falls, a history is the same as without them. */
  readonly #stops: Random;
  readonly #rates: FaultRates;
  readonly #asked = new Map<string, number>();
  readonly #picks: number[] = [];
  readonly #faults: Record<string, number> = {};
  readonly #blows: { step: number; blow: Blow }[] = [];
  #calm = false;

  constructor(seed: number, rates: FaultRates) {
    this.#random = new Random(seed);
    this.#stops = new Random(seedOf(seed, 1));
    this.#rates = rates;
  }

  get made(): Chances {
    return { picks: this.#picks, faults: this.#faults, blows: this.#blows };
  }

  pick(count: number): number {
    const index = this.#random.chance(this.#rates.calm) ? 0 : this.#random.below(count);
    this.#picks.push(index);
    return index;
  }

  fault(name: string, options: number): number {
    if (this.#calm) return 0;
    const asked = this.#asked.get(name) ?? 0;
    this.#asked.set(name, asked + 1);
    const rate = this.#rates.faults[name] ?? 0;
    if (rate === 0 || !this.#random.chance(rate)) return 0;
    const value = 1 + this.#random.below(options - 1);
    this.#faults[`${name}#${asked}`] = value;
    return value;
  }

  blowAfter(step: number, allowed: readonly Blow[]): Blow | null {
    if (this.#calm || this.#blows.length >= mostBlows) return null;
    for (const blow of allowed) {
      const rate = this.#rates.blows[blow];
      const random = blow === 'stop' ? this.#stops : this.#random;
      if (rate === 0 || !random.chance(rate)) continue;
      this.#blows.push({ step, blow });
      return blow;
    }
    return null;
  }

  calmDown(): void {
    this.#calm = true;
  }
}

/**
 * Decides what was written down. With `redraw` the picks are drawn anew, mostly calm ones: the same commands, faults and
 * blows in another order.
 */
export class WrittenDecisions implements Decisions {
  readonly #chances: Chances;
  readonly #redraw: Random | null;
  readonly #asked = new Map<string, number>();
  readonly #blows: ReadonlyMap<number, Blow>;
  readonly #picks: number[] = [];
  #calm = false;

  constructor(chances: Chances, redraw: Random | null = null) {
    this.#chances = chances;
    this.#redraw = redraw;
    this.#blows = new Map(chances.blows.map(({ step, blow }) => [step, blow]));
  }

  get made(): Chances {
    return this.#redraw === null ? this.#chances : { ...this.#chances, picks: this.#picks };
  }

  pick(count: number): number {
    const index = this.#redraw === null ? this.#written() : this.#drawn(this.#redraw, count);
    this.#picks.push(index);
    return index % count;
  }

  fault(name: string, options: number): number {
    if (this.#calm) return 0;
    const asked = this.#asked.get(name) ?? 0;
    this.#asked.set(name, asked + 1);
    return (this.#chances.faults[`${name}#${asked}`] ?? 0) % options;
  }

  blowAfter(step: number, allowed: readonly Blow[]): Blow | null {
    const blow = this.#calm ? undefined : this.#blows.get(step);
    return blow !== undefined && allowed.includes(blow) ? blow : null;
  }

  calmDown(): void {
    this.#calm = true;
  }

  #written(): number {
    return this.#chances.picks[this.#picks.length] ?? 0;
  }

  #drawn(random: Random, count: number): number {
    return random.chance(0.5) ? 0 : random.below(count);
  }
}
