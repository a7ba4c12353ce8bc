import type { HttpAnswer } from './http-transport.ts';
import type { StallWatch } from './stall-watch.ts';

/** What a body is by its first characters. Content types are often wrong. */
export type BodyShape = 'stream' | 'json' | 'other';

/** The body of one answer, read piece by piece under the request's deadlines. */
export class AnswerBody {
  readonly pieces: AsyncIterator<Uint8Array>;
  readonly #contentType: string;
  readonly #watch: StallWatch;

  constructor(answer: HttpAnswer, watch: StallWatch) {
    // No encoding is set, so the pieces are buffers.
    this.pieces = answer.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.#contentType = answer.headers['content-type'] ?? '';
    this.#watch = watch;
  }

  /** As much of the beginning as is needed to tell what the body is. */
  async beginning(): Promise<Uint8Array> {
    let read: Uint8Array = new Uint8Array();
    for (;;) {
      const piece = await this.#next();
      if (piece === null) return read;
      read = Buffer.concat([read, piece]);
      const start = decoded(read);
      const tells = start.length >= tellingCharacters || /^[:{[<]/.test(start);
      if (tells || read.length > maxBlankBytes) return read;
    }
  }

  shapeOf(beginning: Uint8Array): BodyShape {
    const start = decoded(beginning);
    if (/^[{[]/.test(start)) return 'json';
    if (start.startsWith('<')) return 'other';
    return /^(?:data|event|id|retry)?:/.test(start) || this.#contentType.includes('event-stream') ? 'stream' : 'other';
  }

  /** The body's text, as far as the limit goes. `beginning` is what was read of it before. */
  async text(maxBytes: number, beginning: Uint8Array = new Uint8Array()): Promise<string> {
    const read = [beginning];
    let bytes = beginning.length;
    while (bytes < maxBytes) {
      const piece = await this.#next();
      if (piece === null) break;
      read.push(piece);
      bytes += piece.length;
    }
    return Buffer.concat(read).subarray(0, maxBytes).toString('utf8');
  }

  /** Reads to the very end, so that the connection can be used again. Closing the request ends this at any time. */
  async drain(): Promise<void> {
    try {
      while ((await this.pieces.next()).done !== true);
    } catch {
      // A connection that broke can't be used again, and that is all.
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const piece = await this.#watch.wait(this.pieces.next());
    if (piece.done === true) return null;
    this.#watch.sawBytes();
    return piece.value;
  }
}

const tellingCharacters = 'event:'.length;
/** Some servers keep a connection alive with blanks before their answer, but not with this many. */
const maxBlankBytes = 1_000;

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, maxBlankBytes)).trimStart();
}
