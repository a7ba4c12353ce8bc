import type { Command, CommandKind, ReplyOf } from '../domain/session/commands.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { Refusal } from '../domain/session/refusal.ts';
import type { SessionState } from '../domain/session/state.ts';

/** What became of a command. `done` and `refused` describe durable facts only. */
export type Sent<R> =
  | { readonly kind: 'done'; readonly reply: R }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /**
   * The storage failed. With `outcomeUnknown` the command may or may not have taken effect: repeat it with the same id
   * after the restart.
   */
  | { readonly kind: 'unavailable'; readonly outcomeUnknown: boolean };

/** All sessions of this process. The only way to change one is to send it a command. */
export interface Sessions {
  /** Takes the session's own id; see `idOf`. Commands of one session are decided in the order of the calls. */
  send<K extends CommandKind>(sessionId: string, command: Command<K>): Promise<Sent<ReplyOf<K>>>;

  /** The session's committed state, loaded when need be; null where there is none. */
  state(sessionId: string): Promise<SessionState | null>;

  /**
   * The id of the session to which any transcript of its lineage belongs (P8), or null. With a principal only a session of
   * that principal is found.
   */
  idOf(anyId: string, principalId?: string): Promise<string | null>;
}

/** Is told of every commit, synchronously and before anybody is answered. */
export type CommitListener = (sessionId: string, state: SessionState, events: readonly SessionEvent[]) => void;
