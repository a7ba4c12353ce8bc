import type { FailureKind } from '../../../core/domain/model/failure.ts';
import { failureOf } from '../../../core/domain/model/failure.ts';
import type { ClassifiedFailure } from './classify-failure.ts';
import { ToolCallSlots } from './tool-call-slots.ts';
import type { WireChunk, WireUsage } from './wire-chunk.ts';

/**
 * What one request and its answer showed on the wire. The SDK loses some of it (the vendor's own error, pieces of tool
 * calls, native finish reasons), so it is taken down before the SDK sees the bytes.
 */
export class Exchange {
  readonly toolCalls = new ToolCallSlots();
  finishReason: string | null = null;
  nativeFinishReason: string | null = null;
  usage: WireUsage | null = null;
  /** Reasoning that a later request hands back. */
  reasoning = '';
  hasText = false;
  /** Settles when the answer's body has been read to its end. */
  drained: Promise<void> = Promise.resolve();
  #outputBytes = 0;
  #failure: ClassifiedFailure | null = null;

  get failure(): ClassifiedFailure | null {
    return this.#failure;
  }

  /** The first failure is the cause; what breaks after it is its consequence. */
  fail(failure: ClassifiedFailure): void {
    this.#failure ??= failure;
  }

  failAs(kind: FailureKind, message: string, retryable: boolean, providerStatus: number | null = null): void {
    this.fail({ failure: failureOf(kind, message, { retryable, providerStatus }), learnt: null });
  }

  /** Takes a chunk down and says how many bytes the answer has now. */
  take(chunk: WireChunk): number {
    this.finishReason = chunk.finishReason ?? this.finishReason;
    this.nativeFinishReason = chunk.nativeFinishReason ?? this.nativeFinishReason;
    this.usage = chunk.usage ?? this.usage;
    this.hasText ||= chunk.content !== null || chunk.refusal !== null;
    if (chunk.reasoning?.isHandedBack === true) this.reasoning += chunk.reasoning.text;
    const toolCallCharacters = chunk.toolCalls.reduce<number>((sum, delta) => sum + this.toolCalls.take(delta), 0);
    this.#outputBytes +=
      toolCallCharacters + bytesOf(chunk.content) + bytesOf(chunk.reasoning?.text) + bytesOf(chunk.refusal);
    return this.#outputBytes;
  }
}

function bytesOf(content: unknown): number {
  if (content === null || content === undefined) return 0;
  return Buffer.byteLength(typeof content === 'string' ? content : JSON.stringify(content));
}
