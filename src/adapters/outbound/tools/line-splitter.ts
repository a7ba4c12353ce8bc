/** A line that was too long to keep: its size, and enough of both its ends to say what it was. */
export interface OverlongLine {
  readonly bytes: number;
  readonly head: string;
  readonly tail: string;
}

export interface LineSinks {
  readonly onLine: (line: string) => void;
  readonly onOverlongLine: (line: OverlongLine) => void;
}

const edgeBytes = 512;
const lineFeed = 0x0a;

/**
 * Cuts a byte stream into lines. It never holds more than `maxLineBytes` and a chunk, whatever it is fed; of a longer
 * line only the ends are kept. An unfinished last line is never reported.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #sinks: LineSinks;
  /** The unfinished line, in pieces: joined once, when it is complete. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #overlong: { head: Buffer; tail: Buffer } | null = null;

  constructor(maxLineBytes: number, sinks: LineSinks) {
    this.#maxLineBytes = maxLineBytes;
    this.#sinks = sinks;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(lineFeed); end !== -1; end = rest.indexOf(lineFeed)) {
      this.#add(rest.subarray(0, end));
      this.#finish();
      rest = rest.subarray(end + 1);
    }
    this.#add(rest);
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#bytes += piece.length;
    if (this.#overlong !== null) {
      this.#overlong.tail = lastBytes(this.#overlong.tail, piece);
      return;
    }
    this.#pieces.push(piece);
    if (this.#bytes <= this.#maxLineBytes) return;
    const whole = Buffer.concat(this.#pieces);
    this.#overlong = { head: Buffer.from(whole.subarray(0, edgeBytes)), tail: lastBytes(whole) };
    this.#pieces = [];
  }

  #finish(): void {
    const [pieces, overlong, bytes] = [this.#pieces, this.#overlong, this.#bytes];
    this.#pieces = [];
    this.#overlong = null;
    this.#bytes = 0;
    if (overlong === null) this.#sinks.onLine(Buffer.concat(pieces).toString('utf8').replace(/\r$/, ''));
    else
      this.#sinks.onOverlongLine({ bytes, head: overlong.head.toString('utf8'), tail: overlong.tail.toString('utf8') });
  }
}

/** A copy, so that the chunk that it came from can be freed. */
function lastBytes(...pieces: readonly Buffer[]): Buffer {
  return Buffer.from(Buffer.concat(pieces).subarray(-edgeBytes));
}
