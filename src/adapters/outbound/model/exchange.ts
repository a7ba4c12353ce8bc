import type { FailureKind } from '../../../core/domain/model/failure.ts';
import { failureOf } from '../../../core/domain/model/failure.ts';
import type { ClassifiedFailure } from './classify-failure.ts';
import { ToolCallSlots } from './tool-call-slots.ts';
import type { WireUsage } from './wire-chunk.ts';

/**
 * What one request and its answer showed on the wire. The SDK loses some of it (the vendor's own error, pieces of tool
 * calls, native finish reasons), so it is taken down before the SDK sees the bytes.
 */
export class Exchange {
  /** Filled only on wires whose pieces of tool calls are put together here. */
  readonly toolCalls = new ToolCallSlots();
  /** Null until the provider has said that the answer is whole. */
  finishReason: string | null = null;
  nativeFinishReason: string | null = null;
  usage: WireUsage | null = null;
  /** Reasoning that a later request hands back, on wires that carry it as plain text. */
  reasoning = '';
  hasText = false;
  hasReasoning = false;
  /** Settles when the answer's body has been read to its end. */
  drained: Promise<void> = Promise.resolve();
  /** Tool calls that began on a wire whose SDK puts them together. */
  startedCalls = 0;
  #outputBytes = 0;
  #failure: ClassifiedFailure | null = null;

  get failure(): ClassifiedFailure | null {
    return this.#failure;
  }

  get hasToolCalls(): boolean {
    return this.startedCalls > 0 || !this.toolCalls.isEmpty;
  }

  get outputBytes(): number {
    return this.#outputBytes;
  }

  /** The first failure is the cause; what breaks after it is its consequence. */
  fail(failure: ClassifiedFailure): void {
    this.#failure ??= failure;
  }

  failAs(kind: FailureKind, message: string, retryable: boolean, providerStatus: number | null = null): void {
    this.fail({ failure: failureOf(kind, message, { retryable, providerStatus }), learnt: null });
  }

  sawText(text: string): void {
    this.hasText ||= text !== '';
    this.countOutput(text);
  }

  sawReasoning(text: string): void {
    this.hasReasoning ||= text !== '';
    this.countOutput(text);
  }

  sawToolCall(text: string): void {
    this.startedCalls += 1;
    this.countOutput(text);
  }

  /** Adds what is known of the usage: providers tell it in pieces, the newest number of each kind counts. */
  sawUsage(usage: Partial<WireUsage>): void {
    const known = this.usage ?? { promptTokens: null, completionTokens: null, totalTokens: null };
    this.usage = {
      promptTokens: usage.promptTokens ?? known.promptTokens,
      completionTokens: usage.completionTokens ?? known.completionTokens,
      totalTokens: usage.totalTokens ?? known.totalTokens,
    };
  }

  countOutput(output: unknown): void {
    if (output === null || output === undefined) return;
    this.addOutputBytes(Buffer.byteLength(typeof output === 'string' ? output : JSON.stringify(output)));
  }

  addOutputBytes(bytes: number): void {
    this.#outputBytes += bytes;
  }
}
