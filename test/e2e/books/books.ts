/*
 * A client's own books: what it asked for, what it was promised, and what it was told. They share nothing with the
 * program but the words of the protocol, so that they can judge it.
 *
 * B1: whatever contradicts an earlier promise is a breach at the moment at which it is heard.
 * B2: what was asked and not answered may or may not have happened; everything else is certain.
 * B3: an answer is only held against what had been heard when it was asked for: two sockets may overtake each other.
 */

/** A receipt, as far as the books look at it. */
export interface HeardReceipt {
  readonly admission_id: string;
  readonly session_id: string;
  readonly input_id: string;
  readonly sequence: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly execution_generation: number | null;
  readonly duplicate: boolean;
}

export interface HeardEvent {
  readonly seq: number;
  readonly type: string;
  readonly admission_id: string | null;
}

export interface BookedPrompt {
  readonly inputId: string;
  readonly text: string;
  /** Null until somebody has acknowledged it. */
  admissionId: string | null;
  sequence: number | null;
  /** When the acknowledgement, the outcome and an unknown fate were heard first, by the books' own clock. */
  acknowledgedAt: number;
  endedAt: number;
  lostAt: number;
  outcome: string | null;
  status: string | null;
  generation: number | null;
  cancelAsked: boolean;
  stopAsked: boolean;
  stopAcknowledged: boolean;
  discardAsked: boolean;
  retryAsked: boolean;
  resolveAcknowledged: 'discard' | 'retry' | null;
  /** What an edit asked for, and whether it was acknowledged. The id stands for `text` all the same. */
  edit: { readonly text: string; acknowledged: boolean } | null;
  /** The prompts that it was moved before, and whether that was acknowledged. */
  move: { readonly before: readonly string[]; acknowledged: boolean } | null;
  /** For a prompt that was meant for a running turn. */
  readonly steers: number | null;
}

export interface BookedSession {
  /** The tags of its prompts begin with it, and it is the `request_id` of the creation. */
  readonly name: string;
  id: string | null;
  readonly prompts: Map<string, BookedPrompt>;
  /** The last hold or release that was acknowledged, or what was asked for when no answer came: then it is not certain. */
  hold: 'none' | 'held' | 'uncertain';
  readonly events: HeardEvent[];
  title: { readonly text: string; acknowledged: boolean } | null;
  deletion: 'none' | 'asked' | 'acknowledged';
  /** Where a fork comes from. */
  readonly forkOf: { readonly name: string; readonly messageId: number } | null;
  /** What was heard of a compression by hand, by its request id. */
  readonly compressions: Map<string, HeardCompression | null>;
  /** The requests for an approval that were heard of, by their ids. */
  readonly approvals: Map<string, BookedApproval>;
}

export interface BookedApproval {
  readonly approvalId: string;
  readonly callId: string;
  /** What this client answered, whether or not that was heard. */
  answer: 'approve' | 'deny' | null;
  /** What was decided, once somebody said so. */
  decision: string | null;
}

/** The answer to a request for a compression: the id of one that was made, or why there is none. */
export interface HeardCompression {
  readonly compressionId: string | null;
  readonly refused: string | null;
}

export class Books {
  readonly sessions = new Map<string, BookedSession>();
  readonly breaches: string[] = [];
  #now = 0;
  #acknowledged = 0;
  readonly #watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  /** The same books once more, for another course of events from here on. */
  copy(): Books {
    const copy = new Books();
    for (const [name, session] of this.sessions) copy.sessions.set(name, structuredClone(session));
    copy.breaches.push(...this.breaches);
    copy.#now = this.#now;
    return copy;
  }

  /** The instant at which something is asked for. */
  get now(): number {
    return this.#now;
  }

  session(name: string, forkOf: BookedSession['forkOf'] = null): BookedSession {
    const known = this.sessions.get(name);
    if (known !== undefined) return known;
    const fresh: BookedSession = {
      name,
      id: null,
      prompts: new Map(),
      hold: 'none',
      events: [],
      title: null,
      deletion: 'none',
      forkOf,
      compressions: new Map(),
      approvals: new Map(),
    };
    this.sessions.set(name, fresh);
    return fresh;
  }

  get prompts(): readonly BookedPrompt[] {
    return [...this.sessions.values()].flatMap(({ prompts }) => [...prompts.values()]);
  }

  /** Resolves when so many prompts have been acknowledged. */
  async acknowledged(count: number): Promise<void> {
    if (this.#acknowledged >= count) return;
    await new Promise<void>((resolve) => this.#watchers.push({ count, resolve }));
  }

  hold(condition: boolean, breach: string): void {
    if (!condition) this.breaches.push(breach);
  }

  created(session: BookedSession, id: string): void {
    this.hold(session.id === null || session.id === id, `${session.name} is ${id} and was ${String(session.id)}`);
    session.id ??= id;
  }

  /** Writes down that a prompt is about to be asked for. */
  asking(session: BookedSession, inputId: string, text: string, steers: number | null = null): BookedPrompt {
    const known = session.prompts.get(inputId);
    if (known !== undefined) return known;
    const fresh: BookedPrompt = {
      inputId,
      text,
      admissionId: null,
      sequence: null,
      acknowledgedAt: Infinity,
      endedAt: Infinity,
      lostAt: Infinity,
      outcome: null,
      status: null,
      generation: null,
      cancelAsked: false,
      stopAsked: false,
      stopAcknowledged: false,
      discardAsked: false,
      retryAsked: false,
      resolveAcknowledged: null,
      edit: null,
      move: null,
      steers,
    };
    session.prompts.set(inputId, fresh);
    return fresh;
  }

  /** A receipt came, whatever for. `submitted` when it is the answer to a submit. */
  heard(session: BookedSession, receipt: HeardReceipt, askedAt: number, submitted = false): BookedPrompt {
    this.#now += 1;
    const name = `${session.name}/${receipt.input_id}`;
    const prompt = session.prompts.get(receipt.input_id) ?? this.#retried(session, receipt.input_id);
    this.hold(receipt.session_id === session.id, `${name} is of session ${receipt.session_id}`);
    this.hold(
      (prompt.admissionId ?? receipt.admission_id) === receipt.admission_id,
      `${name} is ${receipt.admission_id} and was ${String(prompt.admissionId)}`,
    );
    this.hold(
      (prompt.sequence ?? receipt.sequence) === receipt.sequence,
      `${name} has sequence ${String(receipt.sequence)} and had ${String(prompt.sequence)}`,
    );
    const isRepeated = prompt.acknowledgedAt <= askedAt;
    this.hold(!(submitted && isRepeated) || receipt.duplicate, `${name} was accepted twice`);
    prompt.admissionId ??= receipt.admission_id;
    prompt.sequence ??= receipt.sequence;
    if (prompt.acknowledgedAt === Infinity) this.#acknowledge(prompt);
    this.#follow(name, prompt, receipt, askedAt);
    return prompt;
  }

  /** An event came on a subscription: it must be the next one. */
  event(session: BookedSession, event: HeardEvent): void {
    const expected = (session.events.at(-1)?.seq ?? 0) + 1;
    this.hold(event.seq === expected, `${session.name} got event ${String(event.seq)} in place of ${String(expected)}`);
    session.events.push(event);
  }

  #acknowledge(prompt: BookedPrompt): void {
    prompt.acknowledgedAt = this.#now;
    this.#acknowledged += 1;
    for (const { count, resolve } of this.#watchers) if (this.#acknowledged >= count) resolve();
  }

  #follow(name: string, prompt: BookedPrompt, receipt: HeardReceipt, askedAt: number): void {
    const { status, outcome, execution_generation } = receipt;
    this.hold((status === 'terminal') === (outcome !== null), `${name} is ${status} with outcome ${String(outcome)}`);
    this.hold(outcome !== 'cancelled' || prompt.cancelAsked, `${name} was cancelled by nobody`);
    if (prompt.outcome !== null) {
      const contradicts = outcome === null ? prompt.endedAt <= askedAt : outcome !== prompt.outcome;
      this.hold(!contradicts, `${name} flipped from ${prompt.outcome} to ${outcome ?? status}`);
      return;
    }
    const wasLost = prompt.lostAt <= askedAt;
    this.hold(!wasLost || status === 'unknown' || status === 'terminal', `${name} was unknown and is ${status}`);
    prompt.status = status;
    prompt.outcome = outcome;
    prompt.generation = execution_generation;
    if (outcome !== null) prompt.endedAt = this.#now;
    if (status === 'unknown') prompt.lostAt = Math.min(prompt.lostAt, this.#now);
  }

  /** The admission that a retry made has an id of its own and the old one's text. */
  #retried(session: BookedSession, inputId: string): BookedPrompt {
    const base = session.prompts.get(retryBase(inputId));
    this.hold(base?.retryAsked === true, `${session.name} has ${inputId}, which nobody asked for`);
    return this.asking(session, inputId, base?.text ?? '');
  }
}

/** `p1~2` was made by resolving `p1~1`, and that by resolving `p1`. */
export function retryBase(inputId: string): string {
  const mark = inputId.lastIndexOf('~');
  if (mark < 0) return inputId;
  const count = Number(inputId.slice(mark + 1));
  return count === 1 ? inputId.slice(0, mark) : `${inputId.slice(0, mark)}~${String(count - 1)}`;
}
