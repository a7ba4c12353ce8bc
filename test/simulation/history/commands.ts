/** What somebody outside does. Targets are small numbers that are made sense of when the command is performed. */
export type Command =
  | { readonly do: 'create'; readonly client: number; readonly session: number; readonly variant: number }
  | {
      readonly do: 'submit';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      /** 0: as always; 1: another text under the same key. */
      readonly variant: number;
      readonly connection: number;
      /** Also on the other connection, at once. */
      readonly twice: boolean;
      /** Addressed by the newest transcript's id. */
      readonly byTip: boolean;
      /** The client goes away before the answer and never asks again. */
      readonly vanishes: boolean;
    }
  /** A prompt for the turn that runs. `offset` is added to the session's generation. */
  | {
      readonly do: 'steer';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly ifOver: 'cancel' | 'queue';
      readonly offset: number;
      readonly connection: number;
      readonly twice: boolean;
    }
  | {
      readonly do: 'cancel';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      /** Of a steer. */
      readonly steer?: boolean;
      readonly revision: number;
      /** Also on the other connection, at once. */
      readonly twice: boolean;
    }
  | { readonly do: 'receipt'; readonly client: number; readonly session: number; readonly key: number }
  /** `offset` is added to the session's generation: 0 hits the running turn, the others come late or too early. */
  | { readonly do: 'interrupt'; readonly client: number; readonly session: number; readonly offset: number }
  | {
      readonly do: 'resolve';
      readonly client: number;
      readonly session: number;
      readonly action: 'discard' | 'retry';
      /** 0: an unknown one if there is one; else one that was resolved or any. */
      readonly target: number;
      readonly offset: number;
      readonly twice: boolean;
    }
  /** Answers a request for approval. */
  | {
      readonly do: 'respond';
      readonly client: number;
      readonly session: number;
      readonly answer: 'approve' | 'deny';
      /** 0 and 1: an open request if there is one; 2: the newest; 3: the oldest; 4: one that nobody has made. */
      readonly target: number;
      readonly twice: boolean;
    }
  /** By hand, under one of a few request ids; `variant` 1 asks for something else under the same id. */
  | {
      readonly do: 'compress';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly variant: number;
      readonly twice: boolean;
    }
  /** Other content for a prompt. */
  | {
      readonly do: 'edit';
      readonly client: number;
      readonly session: number;
      /** Counts through what waits, where anything does; else it is the number of an input id. */
      readonly key: number;
      readonly steer: boolean;
      readonly variant: number;
      readonly revision: number;
      readonly twice: boolean;
    }
  /** Another place for a prompt; more than once: the last two that wait change places so often. */
  | {
      readonly do: 'move';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly steer: boolean;
      readonly to: 'first' | 'last' | 'before';
      readonly other: number;
      readonly revision: number;
      readonly times: number;
      readonly twice: boolean;
    }
  | {
      readonly do: 'update';
      readonly client: number;
      readonly session: number;
      readonly change: 'title' | 'model' | 'archived' | 'pinned' | 'everything';
      readonly value: number;
      /** 0: none; 1: the newest; 2: the one before it. */
      readonly revision: number;
      readonly twice: boolean;
    }
  /** `patience`: so often the client waits until nothing is open. */
  | {
      readonly do: 'delete';
      readonly client: number;
      readonly session: number;
      readonly patience: number;
      readonly twice: boolean;
    }
  /** A fork at one of all messages that the session ever had, under one of a few request ids. */
  | {
      readonly do: 'fork';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly message: number;
      readonly twice: boolean;
    }
  | {
      readonly do: 'history';
      readonly client: number;
      readonly session: number;
      readonly forward: boolean;
      readonly limit: number;
    }
  | { readonly do: 'lineage'; readonly client: number; readonly session: number }
  | {
      readonly do: 'search';
      readonly client: number;
      readonly session: number;
      readonly key: number;
      readonly everywhere: boolean;
      readonly limit: number;
    }
  /** For so many seconds, or until somebody releases it. */
  | { readonly do: 'hold'; readonly client: number; readonly session: number; readonly seconds?: number | null }
  | { readonly do: 'release'; readonly client: number; readonly session: number }
  | {
      readonly do: 'subscribe' | 'resume';
      readonly client: number;
      readonly session: number;
      readonly connection: number;
    }
  | { readonly do: 'disconnect'; readonly client: number; readonly connection: number }
  | { readonly do: 'status'; readonly client: number }
  /** A graceful stop, with so many milliseconds for running turns; `hurry` is the second signal. */
  | { readonly do: 'drain'; readonly drainMs: number; readonly hurry: boolean }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'jump'; readonly seconds: number };

export const clientCount = 3;
/** Few keys, so that they meet again. */
export const keyCount = 12;
/** The forks that may be made; the first of them come behind the sessions in a command's count. */
export const forkCount = 3;
