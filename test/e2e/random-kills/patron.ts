import type { Bookkeeper } from '../books/bookkeeper.ts';
import { ConnectionLost } from '../books/bookkeeper.ts';
import type { BookedPrompt, BookedSession } from '../books/books.ts';
import { promptText } from '../books/prompt-text.ts';
import type { Random } from './random.ts';

/** More waiting prompts than this in one session, and a patron does something else than to ask for another. */
const maxOpen = 8;

/**
 * A client that does one random thing after the other in sessions that it shares with others, until the connection is
 * lost under it. What it asked for and heard is in the books.
 */
export class Patron {
  readonly #client: Bookkeeper;
  readonly #sessions: readonly BookedSession[];
  readonly #random: Random;
  /** Those whose events it follows and whose queue it may hold: nobody else does. */
  readonly #own: readonly BookedSession[];
  calls = 0;

  constructor(
    client: Bookkeeper,
    sessions: { readonly all: readonly BookedSession[]; readonly own: readonly BookedSession[] },
    random: Random,
  ) {
    this.#client = client;
    this.#sessions = sessions.all;
    this.#own = sessions.own;
    this.#random = random;
  }

  /** Never rejects for a lost connection. */
  async workUntilLost(): Promise<void> {
    try {
      for (const session of this.#own) {
        await this.#client.create(session.name);
        await this.#client.follow(session);
      }
      for (;;) await this.#doSomething();
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
    } finally {
      this.#client.listen();
      this.#client.close();
    }
  }

  async #doSomething(): Promise<void> {
    this.calls += 1;
    const session = this.#random.pick(this.#sessions.filter(({ id }) => id !== null));
    if (session === undefined) {
      await this.#client.isAlive().then((alive) => {
        if (!alive) throw new ConnectionLost('the daemon is dead');
      });
      return;
    }
    const prompts = [...session.prompts.values()];
    const open = prompts.filter(({ outcome }) => outcome === null);
    const recent = this.#random.pick(open.length > 0 ? open : prompts.slice(-5));
    const any = this.#random.pick(prompts.filter(({ inputId }) => !inputId.includes('~')));
    switch (this.#random.weighted(deeds)) {
      case 'submit':
        if (open.length < maxOpen) await this.#submit(session);
        else await this.#resolve(session);
        return;
      case 'repeat':
        if (any !== undefined) await this.#client.submit(session, any.inputId, any.text);
        return;
      case 'contradict':
        if (any !== undefined && any.admissionId !== null) await this.#client.contradict(session, any);
        return;
      case 'receipt':
        if (any !== undefined) await this.#client.receipt(session, any);
        return;
      case 'cancel':
        if (recent !== undefined) await this.#client.cancel(session, recent);
        return;
      case 'interrupt':
        if (recent !== undefined) await this.#client.interrupt(session, recent);
        return;
      case 'resolve':
        await this.#resolve(session);
        return;
      case 'hold':
        await this.#hold();
        return;
      case 'listen':
        this.#client.listen();
    }
  }

  async #submit(session: BookedSession): Promise<void> {
    const inputId = `p${String(session.prompts.size + 1)}`;
    if (session.prompts.has(inputId)) return; // a retry has made the count jump
    const wish = this.#random.weighted(wishWeights);
    const amount = wish === 'long' ? 1000 + this.#random.below(2000) : 2 + this.#random.below(6);
    await this.#client.submit(session, inputId, promptText(`${session.name}.${inputId}`, wish, amount));
  }

  /** Looks at the queue, and decides on what was lost. */
  async #resolve(session: BookedSession): Promise<void> {
    const open = await this.#client.open(session);
    const lost = open.find(({ status }) => status === 'unknown');
    if (lost !== undefined) await this.#client.resolve(session, lost, this.#actionFor(lost));
  }

  #actionFor({ inputId }: BookedPrompt): 'discard' | 'retry' {
    return inputId.includes('~3') || this.#random.next() < 0.5 ? 'discard' : 'retry';
  }

  async #hold(): Promise<void> {
    const session = this.#random.pick(this.#own);
    if (session === undefined) return;
    if (session.hold === 'none' && this.#random.next() < 0.5) await this.#client.hold(session);
    else await this.#client.release(session);
  }
}

const deeds = {
  submit: 40,
  repeat: 8,
  contradict: 4,
  receipt: 8,
  cancel: 3,
  interrupt: 4,
  resolve: 14,
  hold: 8,
  listen: 8,
} as const;

const wishWeights = { plain: 40, slow: 20, long: 25, tool: 10, overflow: 5, park: 0 } as const;
