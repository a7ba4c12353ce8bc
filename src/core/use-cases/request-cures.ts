import { withoutSummary } from '../domain/compression/no-summary.ts';
import { triggerAfterOverflow } from '../domain/compression/trigger.ts';
import type { ContextSize } from '../domain/compression/context-size.ts';
import { openBreaker } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { afterOutputRefusal, afterOverflow } from '../domain/model/output-limit.ts';
import type { OutputLimit } from '../domain/model/output-limit.ts';
import type { SessionState } from '../domain/session/state.ts';
import { olderMedia } from '../domain/transcript/older-media.ts';
import type { CompressOutcome } from './compressor.ts';
import type { TurnContext } from './turn-context.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

/** A request that its provider has refused. */
export interface Refused {
  readonly state: SessionState;
  readonly context: TurnContext;
  readonly size: ContextSize;
  readonly output: OutputLimit;
  readonly failure: Failure;
}

/** `again`: the request is another one now. `stopped`: the turn was, meanwhile. A failure: nothing helps. Null: no cure is known. */
export type Cure = 'again' | 'stopped' | Failure | null;

/**
 * What is done about the request of one step that is refused for what it is. Each cure is tried once, the one that loses
 * least first: a shorter answer, older images and files named instead of sent, and a compression at last.
 */
export class RequestCures {
  /** A length of the answer that was found by a refusal. */
  shorter: OutputLimit | null = null;
  /** The messages whose images and files are named and not sent. */
  leftOut: ReadonlySet<number> = new Set();
  readonly #deps: TurnDependencies;
  readonly #compress: (triggerTokens: number) => Promise<CompressOutcome>;
  #compressed = false;

  constructor(deps: TurnDependencies, compress: (triggerTokens: number) => Promise<CompressOutcome>) {
    this.#deps = deps;
    this.#compress = compress;
  }

  /** Another model may give longer answers. */
  forget(): void {
    this.shorter = null;
  }

  async find(refused: Refused): Promise<Cure> {
    const { reason } = refused.failure;
    if (reason === 'output_limit') return this.#shorten(afterOutputRefusal(refused.output)) ? 'again' : null;
    if (reason === 'context_overflow') return this.#shortenForWindow(refused) ? 'again' : this.#smaller(refused);
    if (reason === 'payload_too_large') return (await this.#leaveOut(refused)) ? 'again' : this.#smaller(refused);
    return null;
  }

  #shorten(shorter: OutputLimit | null): boolean {
    if (this.shorter !== null || shorter === null) return false;
    this.shorter = shorter;
    return true;
  }

  /** The window that was stated holds the request, and only not the answer that was asked for. */
  #shortenForWindow({ context, size, output }: Refused): boolean {
    return size.tokens < context.window.triggerTokens && this.#shorten(afterOverflow(output, context.output(size)));
  }

  async #leaveOut({ state }: Refused): Promise<boolean> {
    if (this.leftOut.size > 0) return false;
    this.leftOut = olderMedia(await this.#deps.transcripts.read(state));
    return this.leftOut.size > 0;
  }

  async #smaller(refused: Refused): Promise<Cure> {
    const { state, context, size, failure } = refused;
    const hopeless = (cause: Failure): Failure =>
      failure.reason === 'context_overflow' ? context.exhausted(size.tokens, cause) : failure;
    if (this.#compressed || !this.#deps.policy.enabled) return hopeless(failure);
    // A breaker that opened because compressions came too often lets one pass that can't wait.
    if (openBreaker(state.lineage, this.#deps.clock.now()) === 'failed') return this.#unsummarised(refused, null);
    const outcome = await this.#compress(triggerAfterOverflow(context.window.triggerTokens, size.localTokens));
    if (outcome.kind === 'abandoned') return 'stopped';
    if (outcome.kind === 'failed') {
      return outcome.noSummary ? this.#unsummarised(refused, outcome.failure) : hopeless(outcome.failure);
    }
    this.#compressed = true;
    return 'again';
  }

  async #unsummarised({ state, context, size, failure }: Refused, cause: Failure | null): Promise<Failure> {
    const problem = failure.reason === 'context_overflow' ? context.doesNotFit(size.tokens) : failure.message;
    const { lineage } = (await this.#deps.sessions.state(state.sessionId)) ?? state;
    return withoutSummary(problem, cause, lineage, this.#deps.clock.now());
  }
}
