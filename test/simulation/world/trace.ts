/** What happened, line by line; always hashed, and kept when somebody wants to read it. */
export class Trace {
  readonly lines: string[] = [];
  readonly #keep: boolean;
  #hash = 0x811c9dc5;

  constructor({ keep }: { readonly keep: boolean }) {
    this.#keep = keep;
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, '0');
  }

  line(who: string, what: string): void {
    this.#add(who);
    this.#add(what);
    if (this.#keep) this.lines.push(`${who.padEnd(8)} ${what}`);
  }

  /** FNV-1a over the text's code units, and a separator. */
  #add(text: string): void {
    let hash = this.#hash;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    this.#hash = Math.imul(hash ^ 0x1f, 0x01000193) >>> 0;
  }
}
