import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import type { IdSource } from '../../../core/ports/id-source.ts';

const bytesOfId = 16;

/** UUIDs of version 7. Those of one process sort in the order in which they were made, also when the clock steps back. */
export class UuidIds implements IdSource {
  /** Random bytes are asked for in stock: a call for those of one id takes longer than all the rest. */
  readonly #stock = new Uint8Array(256 * bytesOfId);
  #used = this.#stock.length;
  #msecs = 0;
  /** Counts on within a millisecond, in the 32 bits that a UUID has for it. */
  #seq = 0;

  next(): string {
    const random = this.#random();
    const now = Date.now();
    if (now > this.#msecs) {
      this.#msecs = now;
      // The highest bit is left clear, so that there is room to count.
      this.#seq = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
    } else {
      this.#seq += 1;
    }
    return v7({ random, msecs: this.#msecs, seq: this.#seq });
  }

  #random(): Uint8Array {
    if (this.#used === this.#stock.length) {
      randomFillSync(this.#stock);
      this.#used = 0;
    }
    this.#used += bytesOfId;
    return this.#stock.subarray(this.#used - bytesOfId, this.#used);
  }
}
