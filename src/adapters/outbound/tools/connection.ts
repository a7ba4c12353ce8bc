import type { ListedTool } from './listed-tools.ts';

/** What came of one call. */
export type CallAnswer =
  /** The server's result, of whatever shape. */
  | { readonly kind: 'result'; readonly result: unknown }
  /** The server's refusal. */
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  | { readonly kind: 'too_large' }
  /** No answer will come. `broken` says whether the connection is at fault: it is given up, and a new one has to wait. */
  | { readonly kind: 'lost'; readonly why: string; readonly notStarted: boolean; readonly broken: boolean };

/** A started server that has introduced itself. Nothing here has secrets in its texts. */
export interface Connection {
  /** Resolves once, with the reason, when the connection is over. */
  readonly closed: Promise<string>;
  /** As many as the newest list has. */
  readonly toolCount: number;
  /** The tools, asked for again only after the server has said that they changed. It never rejects. */
  tools(): Promise<readonly ListedTool[]>;
  /** When `signal` aborts, the server is told, and the answer is `lost`. It never rejects. */
  call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallAnswer>;
  /** Whether the server has shown within `ms` that it has stopped all calls that were cancelled. */
  heedsCancels(ms: number): Promise<boolean>;
  /** Resolves when the server's processes are gone. It may be called in any state and never rejects. */
  stop(manner: 'politely' | 'now'): Promise<void>;
}

/** The message says what happened, for people and without secrets. */
export class ConnectionError extends Error {}

/**
 * Rejects with a `ConnectionError`, after everything that was started has been stopped. So it does when `signal` aborts,
 * with the signal's reason if that is a `ConnectionError`.
 */
export type OpenConnection = (signal: AbortSignal) => Promise<Connection>;
