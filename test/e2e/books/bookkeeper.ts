import { setTimeout as pause } from 'node:timers/promises';
import type { TestHome } from '../../support/daemon.ts';
import { connect } from '../../support/daemon.ts';
import type { RawClient, RpcAnswer, WireEvent } from '../../support/raw-client.ts';
import type { BookedPrompt, BookedSession, Books, HeardCompression, HeardReceipt } from './books.ts';

/** No answer came, or one that doesn't know: the call may or may not have taken effect. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** What a refused call said. */
export interface Refused {
  readonly refused: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client that writes down whatever it asks and hears. Several may share the books. */
export class Bookkeeper {
  readonly books: Books;
  readonly #client: RawClient;
  /** Has the subscriptions, each once, so that every event that comes must be the next one. */
  readonly #ear: RawClient;
  readonly #followed: BookedSession[] = [];
  #heard = 0;

  private constructor(books: Books, client: RawClient, ear: RawClient) {
    this.books = books;
    this.#client = client;
    this.#ear = ear;
  }

  static async connect(books: Books, home: TestHome): Promise<Bookkeeper> {
    try {
      return new Bookkeeper(books, await connect(home), await connect(home));
    } catch (error) {
      throw new ConnectionLost('the daemon died before anybody could connect', { cause: error });
    }
  }

  close(): void {
    this.#client.close();
    this.#ear.close();
  }

  /** Whether the daemon still answers. */
  async isAlive(): Promise<boolean> {
    return (await this.#client.request('ping', {})).result !== undefined;
  }

  /** Makes a fork, or finds the one that the same call made. */
  async fork(origin: BookedSession, messageId: number, name: string): Promise<BookedSession> {
    const session = this.books.session(name, { name: origin.name, messageId });
    const params = { session_id: origin.id, message_id: messageId, request_id: name };
    const answer = await this.ask('session.fork', params);
    if ('refused' in answer) throw new Error(`the fork ${name} was refused as ${answer.refused}`);
    this.books.created(session, String(answer.result['session_id']));
    return session;
  }

  /** The ids of the messages of a session, oldest first. */
  async messageIds(session: BookedSession): Promise<readonly number[]> {
    const answer = await this.ask('session.history', { session_id: session.id, after: '0', limit: 100 });
    if ('refused' in answer) throw new Error(`the history of ${session.name} was refused as ${answer.refused}`);
    const entries = answer.result['entries'] as readonly { type: string; message?: { id: number } }[]; // as the protocol says
    return entries.flatMap(({ message }) => message?.id ?? []);
  }

  async rename(session: BookedSession, text: string): Promise<void> {
    session.title = { text, acknowledged: false };
    const answer = await this.ask('session.update', { session_id: session.id, title: text });
    if ('refused' in answer) throw new Error(`the title of ${session.name} was refused as ${answer.refused}`);
    session.title.acknowledged = true;
  }

  async remove(session: BookedSession): Promise<void> {
    session.deletion = session.deletion === 'none' ? 'asked' : session.deletion;
    const answer = await this.ask('session.delete', { session_id: session.id });
    if ('refused' in answer) throw new Error(`the deletion of ${session.name} was refused as ${answer.refused}`);
    session.deletion = 'acknowledged';
  }

  /** Whatever is asked about a deleted session, beside what it knows, is not found. */
  async expectGone(session: BookedSession): Promise<void> {
    for (const [method, more] of [
      ['session.get', {}],
      ['session.history', {}],
      ['prompt.submit', { input_id: 'after-the-deletion', text: 'Anybody?' }],
    ] as const) {
      const answer = await this.ask(method, { session_id: session.id, ...more });
      const said = 'refused' in answer ? answer.refused : 'answered';
      this.books.hold(said === 'not_found', `${method} of the deleted ${session.name} was ${said}`);
    }
  }

  /** Compresses by hand. A request id stands for one compression for ever. */
  async compress(session: BookedSession, requestId: string): Promise<HeardCompression> {
    const known = session.compressions.get(requestId) ?? null;
    session.compressions.set(requestId, known);
    const answer = await this.ask('session.compress', { session_id: session.id, request_id: requestId });
    const heard: HeardCompression =
      'refused' in answer
        ? { compressionId: null, refused: answer.refused }
        : { compressionId: String(answer.result['compression_id']), refused: null };
    const isRight = heard.refused === null || heard.refused === 'compression_failed';
    this.books.hold(isRight, `the compression ${requestId} was refused as ${String(heard.refused)}`);
    const isSame = known === null || JSON.stringify(known) === JSON.stringify(heard);
    this.books.hold(isSame, `the compression ${requestId} was ${JSON.stringify(known)}, is ${JSON.stringify(heard)}`);
    session.compressions.set(requestId, heard);
    return heard;
  }

  async create(name: string): Promise<BookedSession> {
    const session = this.books.session(name);
    const answer = await this.ask('session.create', { request_id: name, source: 'test' });
    if ('refused' in answer) throw new Error(`the session ${name} was refused as ${answer.refused}`);
    this.books.created(session, String(answer.result['session_id']));
    return session;
  }

  /** Subscribes to a session from the last event on that the books have. */
  async follow(session: BookedSession): Promise<void> {
    const after_seq = session.events.at(-1)?.seq ?? 0;
    this.#followed.push(session);
    const answer = await this.#askOver(this.#ear, 'session.subscribe', { session_id: session.id, after_seq });
    if ('refused' in answer)
      this.books.breaches.push(`${session.name} can't be followed from ${String(after_seq)}: ${answer.refused}`);
  }

  /** Books the events that have come so far. */
  listen(): void {
    const arrived = this.#ear.events.slice(this.#heard);
    this.#heard = this.#ear.events.length;
    for (const { type, seq, session_id, admission_id } of arrived) {
      const session = this.#followed.find(({ id }) => id === session_id);
      if (type === 'subscription.gap') this.books.breaches.push(`a subscription to ${String(session?.name)} has a gap`);
      if (seq !== undefined && session !== undefined) {
        this.books.event(session, { seq, type, admission_id: admission_id ?? null });
      }
    }
  }

  /** Listens until the session's event of that number has come. */
  async listenUntil(session: BookedSession, lastSeq: number): Promise<void> {
    this.listen();
    if ((session.events.at(-1)?.seq ?? 0) >= lastSeq) return;
    await this.#ear.event(({ session_id, seq }) => session_id === session.id && seq === lastSeq);
    this.listen();
  }

  /** The first event of a session's subscription, past or future, that fits. */
  async event(session: BookedSession, matches: (event: WireEvent) => boolean): Promise<WireEvent> {
    const isIt = (event: WireEvent): boolean => event.session_id === session.id && matches(event);
    return this.#ear.event(isIt, longestTurnMs).catch((error: unknown) => {
      throw this.#ear.closed ? new ConnectionLost('no such event can come any more', { cause: error }) : error;
    });
  }

  async submit(session: BookedSession, inputId: string, text: string): Promise<Refused | null> {
    const prompt = this.books.asking(session, inputId, text);
    const answer = await this.ask('prompt.submit', { session_id: session.id, input_id: inputId, text });
    if (!('refused' in answer)) {
      this.books.heard(session, receiptOf(answer.result), answer.askedAt, true);
      return null;
    }
    const wasKnown = prompt.acknowledgedAt <= answer.askedAt;
    this.books.hold(!wasKnown, `the known ${session.name}/${inputId} was refused as ${answer.refused}`);
    return answer;
  }

  /** Asks for a known id with another text: that must be a conflict with the receipt of the first. */
  async contradict(session: BookedSession, prompt: BookedPrompt): Promise<void> {
    const params = { session_id: session.id, input_id: prompt.inputId, text: `${prompt.text} and more` };
    const answer = await this.ask('prompt.submit', params);
    const isConflict = 'refused' in answer && answer.refused === 'admission_conflict';
    this.books.hold(
      isConflict,
      `${session.name}/${prompt.inputId} with another text was ${'refused' in answer ? answer.refused : 'accepted'}`,
    );
    if (isConflict) this.books.heard(session, answer.data['receipt'] as HeardReceipt, answer.askedAt); // every conflict carries one
  }

  async edit(session: BookedSession, prompt: BookedPrompt, text: string): Promise<Refused | null> {
    prompt.edit = { text, acknowledged: false };
    const answer = await this.ask('prompt.edit', { session_id: session.id, input_id: prompt.inputId, text });
    if ('refused' in answer) return answer;
    this.books.heard(session, receiptOf(answer.result), answer.askedAt);
    prompt.edit.acknowledged = true;
    return null;
  }

  /** Moves a prompt to the head of the queue, before all these. */
  async moveFirst(
    session: BookedSession,
    prompt: BookedPrompt,
    before: readonly BookedPrompt[],
  ): Promise<Refused | null> {
    prompt.move = { before: before.map(({ inputId }) => inputId), acknowledged: false };
    const params = { session_id: session.id, input_id: prompt.inputId, to: 'first' };
    const answer = await this.ask('prompt.move', params);
    if ('refused' in answer) return answer;
    this.books.heard(session, receiptOf(answer.result), answer.askedAt);
    prompt.move.acknowledged = true;
    return null;
  }

  /** Adds to the turn of this generation. What it says has no tag: the request that brings it is the turn's own. */
  async steer(session: BookedSession, inputId: string, text: string, generation: number): Promise<Refused | null> {
    const prompt = this.books.asking(session, inputId, text, generation);
    prompt.cancelAsked = true; // the gateway withdraws it when the turn is over
    const params = { session_id: session.id, input_id: inputId, text, execution_generation: generation };
    const answer = await this.ask('session.steer', params);
    if ('refused' in answer) {
      this.books.hold(prompt.acknowledgedAt > answer.askedAt, `the known ${inputId} was refused as ${answer.refused}`);
      session.prompts.delete(inputId);
      return answer;
    }
    this.books.heard(session, receiptOf(answer.result), answer.askedAt, true);
    return null;
  }

  async receipt(session: BookedSession, prompt: BookedPrompt): Promise<BookedPrompt> {
    const answer = await this.ask('prompt.receipt', { session_id: session.id, input_id: prompt.inputId });
    if (!('refused' in answer)) return this.books.heard(session, receiptOf(answer.result), answer.askedAt);
    const wasKnown = prompt.acknowledgedAt <= answer.askedAt;
    this.books.hold(!wasKnown, `the receipt of ${session.name}/${prompt.inputId} was refused as ${answer.refused}`);
    return prompt;
  }

  /** Waits until the prompt has ended or its fate is unknown. Where an outage holds the queue, it doesn't wait for its end. */
  async settled(session: BookedSession, prompt: BookedPrompt): Promise<BookedPrompt> {
    const params = { session_id: session.id, input_id: prompt.inputId, timeout_ms: longestTurnMs };
    const name = `${session.name}/${prompt.inputId}`;
    for (let releases = 0; ; releases += 1) {
      const answer = await this.ask('prompt.wait', params);
      if ('refused' in answer) throw new Error(`${name} can't be waited for: ${answer.refused}`);
      const { status } = this.books.heard(session, receiptOf(answer.result), answer.askedAt);
      if (status === 'terminal' || status === 'unknown') return prompt;
      const found = await this.ask('session.get', { session_id: session.id });
      const hold =
        'refused' in found ? null : (found.result['hold'] as { readonly by: string; readonly reason: string } | null); // as the protocol says
      if (hold?.by !== 'gateway' || releases === maxReleases)
        throw new Error(`${name} doesn't end: ${JSON.stringify({ ...answer.result, hold })}`);
      // The witness itself is never down: what doesn't fit while a compression has just failed is all that holds a queue.
      const isMeant = hold.reason === 'outage:compression_failed';
      this.books.hold(isMeant, `the queue of ${session.name} was held for ${hold.reason}`);
      await this.release(session);
    }
  }

  async cancel(session: BookedSession, prompt: BookedPrompt): Promise<Refused | null> {
    prompt.cancelAsked = true;
    const answer = await this.ask('prompt.cancel', { session_id: session.id, input_id: prompt.inputId });
    if ('refused' in answer) return answer;
    const { outcome } = receiptOf(answer.result);
    this.books.hold(
      outcome === 'cancelled',
      `${session.name}/${prompt.inputId} was cancelled and is ${String(outcome)}`,
    );
    this.books.heard(session, receiptOf(answer.result), answer.askedAt);
    return null;
  }

  /** Stops the running turn of a prompt, if it runs. */
  async interrupt(session: BookedSession, prompt: BookedPrompt): Promise<Refused | null> {
    await this.receipt(session, prompt);
    if (prompt.status !== 'started' || prompt.generation === null) return null;
    prompt.stopAsked = true;
    const params = { session_id: session.id, execution_generation: prompt.generation };
    const answer = await this.ask('session.interrupt', params);
    if ('refused' in answer) return answer;
    const hit = answer.result['admission_id'];
    this.books.hold(hit === prompt.admissionId, `the stop of ${session.name}/${prompt.inputId} hit ${String(hit)}`);
    prompt.stopAcknowledged = true;
    return null;
  }

  async resolve(session: BookedSession, prompt: BookedPrompt, action: 'discard' | 'retry'): Promise<Refused | null> {
    if (action === 'retry') prompt.retryAsked = true;
    else prompt.discardAsked = true;
    const answer = await this.ask('prompt.resolve_unknown', {
      session_id: session.id,
      admission_id: prompt.admissionId,
      execution_generation: prompt.generation,
      action,
    });
    if ('refused' in answer) return answer;
    this.books.heard(session, receiptOf(answer.result), answer.askedAt);
    prompt.resolveAcknowledged = action;
    const retry = answer.result['retry'] as HeardReceipt | null; // as the protocol says
    if (retry !== null) this.books.heard(session, retry, answer.askedAt);
    return null;
  }

  async hold(session: BookedSession): Promise<void> {
    session.hold = 'uncertain';
    await this.ask('session.hold', { session_id: session.id });
    session.hold = 'held';
  }

  async release(session: BookedSession): Promise<void> {
    session.hold = 'uncertain';
    await this.ask('session.release', { session_id: session.id });
    session.hold = 'none';
  }

  /** The prompts of a session that are not terminal, in queue order. */
  async open(session: BookedSession): Promise<readonly BookedPrompt[]> {
    const answer = await this.ask('prompt.list', { session_id: session.id, limit: 200 });
    if ('refused' in answer) throw new Error(`the queue of ${session.name} was refused as ${answer.refused}`);
    const listed = answer.result['prompts'] as readonly HeardReceipt[]; // as the protocol says
    return listed.map((receipt) => this.books.heard(session, receipt, answer.askedAt));
  }

  async lastSeq(session: BookedSession): Promise<number> {
    const answer = await this.ask('session.get', { session_id: session.id });
    if ('refused' in answer) throw new Error(`${session.name} was refused as ${answer.refused}`);
    return Number(answer.result['last_seq']);
  }

  /** Asks for something that has no method here; the caller books it. */
  ask(method: string, params: Readonly<Record<string, unknown>>): Promise<Outcome> {
    return this.#askOver(this.#client, method, params);
  }

  /** Who asks too often is told when to come again, and comes again. */
  async #askOver(client: RawClient, method: string, params: Readonly<Record<string, unknown>>): Promise<Outcome> {
    for (;;) {
      const askedAt = this.books.now;
      const outcome = outcomeOf(await client.request(method, params));
      if (!('refused' in outcome) || outcome.refused !== 'rate_limited') return { ...outcome, askedAt };
      await pause(Number(outcome.data['retry_after_ms'] ?? 1_000));
    }
  }
}

/** How long a turn of these tests may take, whatever else the machine does. */
const longestTurnMs = 40_000;
/** How many outages of its queue one prompt may meet. */
const maxReleases = 3;

export type Outcome = { readonly askedAt: number } & ({ readonly result: Readonly<Record<string, unknown>> } | Refused);

function outcomeOf({ result, error }: RpcAnswer): { readonly result: Readonly<Record<string, unknown>> } | Refused {
  if (error === undefined) return { result: result as Readonly<Record<string, unknown>> }; // every method answers an object
  const isUncertain = error.data?.['outcome_unknown'] === true; // the daemon is about to end
  if (error.code === 0 || isUncertain) throw new ConnectionLost(error.message);
  return { refused: String(error.data?.['reason']), data: error.data ?? {} };
}

/** The receipt fields of an answer that begins with them. */
function receiptOf(result: Readonly<Record<string, unknown>>): HeardReceipt {
  return result as unknown as HeardReceipt; // the tests of the protocol check its shape
}
