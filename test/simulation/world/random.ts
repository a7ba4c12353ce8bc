/** A small seeded generator (sfc32): equal seeds give equal numbers on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = (seed / 2 ** 32) >>> 0;
    this.#c = 0x9e3779b9;
    for (let round = 0; round < 12; round += 1) this.#word();
  }

  /** From 0 up to, and not including, 1. */
  fraction(): number {
    return this.#word() / 2 ** 32;
  }

  /** A whole number from 0 up to, and not including, `n`. */
  below(n: number): number {
    return Math.floor(this.fraction() * n);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T; // the index is within the list, which nobody calls empty
  }

  /** One of the keys, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights) as [K, number][]; // the keys of the record
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0]; // rounding: the last one
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** The seed of one of a campaign's histories: neighbours have nothing in common. */
export function seedOf(campaignSeed: number, index: number): number {
  const mixer = new Random(campaignSeed * 1_000_003 + index);
  return mixer.below(2 ** 31) * 2 ** 21 + mixer.below(2 ** 21);
}
