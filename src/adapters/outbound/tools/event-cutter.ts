const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export interface CutEvents {
  /** Whole events, as they came. */
  readonly complete: Uint8Array;
  /** An event has just exceeded the limit: it is left out, and what follows it is not. */
  readonly overflowed: boolean;
}

/**
 * Holds back the events of a server-sent stream until they are complete, and at most `maxBytes` of one. An event ends
 * with an empty line: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventCutter {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #lineIsEmpty = true;
  #discarding = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): CutEvents {
    const complete: Uint8Array[] = [];
    let start = 0;
    for (const end of this.#eventEnds(chunk)) {
      if (!this.#discarding) complete.push(...this.#pieces, chunk.subarray(start, end));
      this.#pieces = [];
      this.#bytes = 0;
      this.#discarding = false;
      start = end;
    }
    return { complete: Buffer.concat(complete), overflowed: this.#keep(chunk.subarray(start)) };
  }

  /** True when this makes the unfinished event too large. */
  #keep(piece: Uint8Array): boolean {
    if (this.#discarding || piece.length === 0) return false;
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes <= this.#maxBytes) return false;
    this.#discarding = true;
    this.#pieces = [];
    return true;
  }

  #eventEnds(chunk: Uint8Array): readonly number[] {
    const ends: number[] = [];
    let index = 0;
    for (const byte of chunk) {
      index += 1;
      if (byte === lineFeed) {
        if (this.#lineIsEmpty) ends.push(index);
        this.#lineIsEmpty = true;
      } else if (byte !== carriageReturn) this.#lineIsEmpty = false;
    }
    return ends;
  }
}
