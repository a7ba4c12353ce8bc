import type { MethodName, ParsedParamsOf, ResultOf } from '../../../protocol/registry.ts';
import type { Answer } from './answer.ts';
import type { Principal } from './dependencies.ts';
import type { Subscriptions } from './subscriptions.ts';

/** What a handler knows of its call beside the parameters. */
export interface Call {
  readonly principal: Principal;
  readonly subscriptions: Subscriptions;
  /** Resolves when the answer has been handed to the socket. */
  readonly replied: Promise<void>;
  /** Aborts when the connection has gone. */
  readonly gone: AbortSignal;
}

/**
 * Does what a method promises. `session_id` is the session's own id here: any id of the lineage has been resolved.
 *
 * A handler of a method whose order is `arrival` sends its command before its first pause. What can be expected is an
 * answer; whatever it throws is a fault.
 */
export type Handler<N extends MethodName> = (params: ParsedParamsOf<N>, call: Call) => Promise<Answer<ResultOf<N>>>;

export type Handlers = { readonly [N in MethodName]: Handler<N> };

export type HandlersOf<Noun extends string> = Pick<Handlers, Extract<MethodName, `${Noun}.${string}`>>;
