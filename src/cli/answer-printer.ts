/**
 * Prints an answer while it comes: pieces with offsets, of which some may be missing or come twice, and at the end the
 * whole. What it has written is always a beginning of what the model said, step by step.
 */
export class AnswerPrinter {
  readonly #write: (text: string) => void;
  #step = -1;
  /** What was written of the present step. */
  #written = '';
  #writtenBytes = 0;
  /** A piece of the step is missing, so nothing more of it is written before the whole is there. */
  #hasGap = false;
  #endsLine = true;
  #isOver = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** `offset` counts the UTF-8 bytes of the step's text before this piece. */
  piece(step: number, offset: number, text: string): void {
    if (this.#isOver || step < this.#step) return;
    if (step > this.#step) this.#begin(step);
    if (offset > this.#writtenBytes) this.#hasGap = true;
    if (this.#hasGap) return;
    const fresh = Buffer.from(text)
      .subarray(this.#writtenBytes - offset)
      .toString('utf8');
    this.#append(fresh);
  }

  /** The whole text of the last step. Nothing is written after it. */
  whole(text: string): void {
    if (this.#isOver) return;
    if (text.startsWith(this.#written)) this.#append(text.slice(this.#written.length));
    else {
      this.#endLine();
      this.#append(text);
    }
    this.stop();
  }

  /** Nothing more comes. What was written ends with a line end. */
  stop(): void {
    this.#isOver = true;
    this.#endLine();
  }

  #begin(step: number): void {
    if (this.#written !== '') this.#emit(this.#endsLine ? '\n' : '\n\n');
    this.#step = step;
    this.#written = '';
    this.#writtenBytes = 0;
    this.#hasGap = false;
  }

  #append(text: string): void {
    this.#written += text;
    this.#writtenBytes += Buffer.byteLength(text);
    this.#emit(text);
  }

  #endLine(): void {
    if (!this.#endsLine) this.#emit('\n');
  }

  #emit(text: string): void {
    if (text === '') return;
    this.#write(text);
    this.#endsLine = text.endsWith('\n');
  }
}
