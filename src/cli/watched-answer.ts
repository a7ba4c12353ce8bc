import type { SessionEvent } from '../client/event-feed.ts';
import type { WireSnapshot } from '../protocol/snapshot.ts';
import { AnswerPrinter } from './answer-printer.ts';
import type { CommandContext } from './command-context.ts';
import { printable } from './printable.ts';

/**
 * The answer of one admission, put together from events and snapshots. It is printed while it comes, or, with
 * `--json`, only kept.
 */
export class WatchedAnswer {
  readonly #admissionId: string;
  readonly #printer: AnswerPrinter | null;
  #last: string | null = null;

  constructor({ json, io: { stdout } }: CommandContext, admissionId: string) {
    this.#admissionId = admissionId;
    const write = (text: string): void => stdout.write(stdout.isTerminal ? printable(text) : text);
    this.#printer = json ? null : new AnswerPrinter(write);
  }

  /** What the turn had said before anybody listened. */
  begin({ running, partial }: WireSnapshot): void {
    if (running?.admission_id === this.#admissionId && partial !== null)
      this.#printer?.piece(partial.step, 0, partial.text);
  }

  take(event: SessionEvent): void {
    if (event.admission_id !== this.#admissionId) return;
    if (event.type === 'message.delta') {
      const { step, offset, text } = event.payload;
      this.#printer?.piece(step, offset, text);
    } else if (event.type === 'message.appended') {
      const { message } = event.payload;
      if (message.kind === 'answer' && message.truncated === undefined) this.#last = message.text;
    }
  }

  /** The whole answer, from the newest messages where they have it. */
  end({ messages }: WireSnapshot): string | null {
    const stored = messages.findLast(({ admission_id: of, kind }) => of === this.#admissionId && kind === 'answer');
    const answer = stored?.truncated === true ? (this.#last ?? stored.text) : (stored?.text ?? this.#last);
    if (answer === null) this.#printer?.stop();
    else this.#printer?.whole(answer);
    return answer;
  }

  /** Nothing more is to be had. */
  stop(): void {
    this.#printer?.stop();
  }
}
