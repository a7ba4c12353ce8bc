import type { SessionState } from '../domain/session/state.ts';
import type { EventHub } from '../ports/event-hub.ts';
import { SessionActor } from './session-actor.ts';
import type { ActorDependencies } from './session-actor.ts';
import type { CommitListener, Sessions } from './sessions.ts';

/**
 * The actors of this process, made when they are needed and forgotten when they are idle and many.
 *
 * At most one actor exists for a session at any time: it is forgotten only while nothing waits in it and nothing runs.
 */
export class SessionRegistry implements Sessions {
  readonly #deps: SessionRegistryDependencies;
  /** In order of use, the least recently used first. */
  readonly #actors = new Map<string, SessionActor>();
  readonly #listeners: CommitListener[] = [];
  #halted = false;

  constructor(deps: SessionRegistryDependencies) {
    this.#deps = deps;
  }

  send: Sessions['send'] = (sessionId, command) => this.#actor(sessionId).send(command);

  state(sessionId: string): Promise<SessionState | null> {
    return this.#actor(sessionId).state();
  }

  async idOf(anyId: string, principalId?: string): Promise<string | null> {
    const loaded = this.#actors.get(anyId)?.loaded;
    const owned = loaded
      ? { sessionId: anyId, principalId: loaded.profile.principalId }
      : await this.#deps.ledger.sessionOf(anyId);
    if (owned === null || (principalId !== undefined && principalId !== owned.principalId)) return null;
    return owned.sessionId;
  }

  /** From now on nothing is decided in any session: the process must end. */
  halt(): void {
    this.#halted = true;
    for (const actor of this.#actors.values()) actor.halt();
  }

  /** Adds a listener; it hears of commits before the hub's subscribers do. */
  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  #actor(sessionId: string): SessionActor {
    const existing = this.#actors.get(sessionId);
    if (existing !== undefined) {
      this.#actors.delete(sessionId);
      this.#actors.set(sessionId, existing);
      return existing;
    }
    this.#forgetIdle();
    const actor = new SessionActor(sessionId, { ...this.#deps, onCommit: this.#committed });
    if (this.#halted) actor.halt();
    this.#actors.set(sessionId, actor);
    return actor;
  }

  readonly #committed: CommitListener = (sessionId, state, events) => {
    for (const listener of this.#listeners) listener(sessionId, state, events);
    this.#deps.hub.publish(sessionId, events);
  };

  #forgetIdle(): void {
    if (this.#actors.size < this.#deps.maxLoadedSessions) return;
    for (const [sessionId, actor] of this.#actors) {
      if (!actor.idle || actor.loaded?.open.some(({ status }) => status === 'started')) continue;
      this.#actors.delete(sessionId);
      if (this.#actors.size < this.#deps.maxLoadedSessions) return;
    }
  }
}

export interface SessionRegistryDependencies extends Omit<ActorDependencies, 'onCommit'> {
  readonly hub: EventHub;
  /** How many sessions stay in memory while they are idle. */
  readonly maxLoadedSessions: number;
}
