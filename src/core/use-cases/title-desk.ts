/*
 * Gives sessions without a title one, after their first answer. Its border: what a request says and whether an answer is
 * a title is the domain's; that a title which somebody gave is never replaced is the decider's (`ifUntitled`).
 *
 * N1: a title is never in the way: no turn, no queue and no stop waits for it, and it takes no place of a turn.
 * N2: a session is asked about at most once in a process. What fails is logged and not tried again.
 * N3: few requests run at once, and few sessions wait; beyond that a session gets its chance with its next answer.
 */
import { titleFrom, titlePrompt } from '../domain/session/title.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { Logger } from '../ports/logger.ts';
import type { ModelProvider, ModelTarget } from '../ports/model-provider.ts';
import type { SessionQueries } from '../ports/session-queries.ts';
import { requestStep } from './model-step.ts';
import type { CommitListener, Sessions } from './sessions.ts';

interface TitleSettings {
  /** Null: the session's own model. */
  readonly target: ModelTarget | null;
}

export interface TitleDependencies {
  readonly sessions: Sessions;
  readonly queries: Pick<SessionQueries, 'messages'>;
  readonly provider: ModelProvider;
  readonly failpoints: Failpoints;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes the secrets that the gateway holds out of a text. */
  readonly mask: (text: string) => string;
  /** Null: no titles are made. */
  readonly titles: TitleSettings | null;
}

/** Who has given a title that nobody gave, as the session's log tells it. */
const titleAuthor = 'title_generation';
const deadlineMs = 30_000;
/** Asked for, so that a model which thinks first has room for that. */
const maxOutputTokens = 500;
/** The most that is read of an answer, whatever the model was asked for. */
const maxReadCharacters = 8_000;
const maxAtOnce = 2;
const maxWaiting = 100;
/** How many sessions are remembered as asked about. */
const maxRemembered = 100_000;

interface Job {
  readonly sessionId: string;
  /** The turn's prompt and its last answer. */
  readonly messages: readonly number[];
  readonly target: ModelTarget;
}

export class TitleDesk {
  readonly #deps: TitleDependencies;
  readonly #tried = new Set<string>();
  readonly #waiting: Job[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(deps: TitleDependencies) {
    this.#deps = deps;
  }

  readonly observe: CommitListener = (sessionId, state, events) => {
    const { titles } = this.#deps;
    const answered = events.find(isAnswer);
    if (titles === null || answered === undefined || this.#stop.signal.aborted) return;
    if (!isUntitled(state) || this.#tried.has(sessionId) || this.#waiting.length >= maxWaiting) return;
    this.#remember(sessionId);
    const { provider, model, baseUrl } = titles.target ?? state.profile;
    this.#waiting.push({
      sessionId,
      messages: exchangeOf(state, answered.admissionId),
      target: { provider, model, baseUrl },
    });
    this.#next();
  };

  /** Aborts what runs and asks for nothing any more. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#waiting.length = 0;
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  #remember(sessionId: string): void {
    this.#tried.add(sessionId);
    const [oldest] = this.#tried;
    if (this.#tried.size > maxRemembered && oldest !== undefined) this.#tried.delete(oldest);
  }

  #next(): void {
    if (this.#running.size >= maxAtOnce || this.#stop.signal.aborted) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    const running = this.#give(job).finally(() => {
      this.#running.delete(running);
      this.#next();
    });
    this.#running.add(running);
  }

  /** Rejects never. */
  async #give(job: Job): Promise<void> {
    const { sessions, logger } = this.#deps;
    const { sessionId, target } = job;
    try {
      const asked = await this.#ask(job);
      if (this.#stop.signal.aborted) return;
      if (asked.title === null) {
        logger.info('no title was made', { sessionId, model: target.model, reason: asked.reason });
        return;
      }
      const changes = { title: asked.title };
      const sent = await sessions.send(sessionId, {
        kind: 'update',
        changes,
        revision: null,
        by: titleAuthor,
        ifUntitled: true,
      });
      if (sent.kind !== 'done') logger.debug('a title was not stored', { sessionId, kind: sent.kind });
    } catch (error) {
      logger.info('no title was made', { sessionId, model: target.model, reason: 'error', error });
    }
  }

  async #ask(job: Job): Promise<{ readonly title: string | null; readonly reason: string }> {
    const { queries, sessions, mask } = this.#deps;
    const { sessionId, messages: ids, target } = job;
    // One by one: the prompt alone may fill a page.
    const pages = await Promise.all(ids.map((id) => queries.messages({ sessionId, ids: [id] })));
    const prompt = titlePrompt(pages.flat(), mask);
    if (prompt === null) return { title: null, reason: 'no_prompt' };
    // It may have waited for its turn: whoever gave a title or deleted the session meanwhile saves the request.
    const state = await sessions.state(sessionId);
    if (state === null || !isUntitled(state)) return { title: null, reason: 'not_needed' };
    const outcome = await this.#limited((signal, listener) =>
      requestStep(
        this.#deps,
        {
          target,
          system: prompt.system,
          messages: [{ role: 'user', text: prompt.user, parts: null }],
          tools: [],
          maxOutputTokens,
          purpose: 'title',
        },
        signal,
        listener,
      ),
    );
    if (outcome.kind === 'failed') return { title: null, reason: outcome.failure.reason };
    const { text, finishReason, toolCalls } = outcome;
    const title = finishReason === 'stop' && toolCalls.length === 0 ? titleFrom(mask(text)) : null;
    return { title, reason: 'no_title_in_answer' };
  }

  /** Ends work that takes too long, says too much, or is in the way of a stop. */
  async #limited<T>(
    work: (signal: AbortSignal, listener: { text(chunk: string): void; reasoning(chunk: string): void }) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    const answered = new AbortController();
    const abort = (): void => {
      limit.abort();
    };
    if (this.#stop.signal.aborted) abort();
    this.#stop.signal.addEventListener('abort', abort);
    void this.#deps.clock.sleep(deadlineMs, answered.signal).then(() => {
      if (!answered.signal.aborted) abort();
    });
    let characters = 0;
    const count = (chunk: string): void => {
      characters += chunk.length;
      if (characters > maxReadCharacters) abort();
    };
    try {
      return await work(limit.signal, { text: count, reasoning: count });
    } finally {
      answered.abort();
      this.#stop.signal.removeEventListener('abort', abort);
    }
  }
}

function isAnswer(event: SessionEvent): boolean {
  return event.type === 'turn.settled' && event.outcome === 'completed';
}

function exchangeOf({ messages }: SessionState, admissionId: string | null): readonly number[] {
  const own = messages.filter((message) => message.admissionId === admissionId);
  const exchange = [own.find(({ kind }) => kind === 'prompt'), own.findLast(({ kind }) => kind === 'answer')];
  return exchange.flatMap((message) => message?.id ?? []);
}

function isUntitled({ profile, deletedAt }: SessionState): boolean {
  return profile.title === null && deletedAt === null;
}
