import type { Failure } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { ContentPart, ProviderMetadata, ToolCall } from '../domain/transcript/message.ts';
import type { RequestMessage } from '../domain/transcript/request-message.ts';

export type { RequestMessage };

/** Which model at which address. The key that belongs to the address is the adapter's affair. */
export interface ModelTarget {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly target: ModelTarget;
  readonly system: string | null;
  readonly messages: readonly RequestMessage[];
  readonly tools: readonly ToolSchema[];
  /** Null: the provider's own default. */
  readonly maxOutputTokens: number | null;
  /** The most that the model and its window leave for the answer, for wires that have to name a number. */
  readonly outputCeilingTokens?: number;
  /** For logs and traces; it never changes what is sent. */
  readonly purpose: 'turn' | 'summary' | 'title';
}

export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** A whole call. Its arguments are the model's own text and may be no JSON. */
  | { readonly kind: 'tool_call'; readonly call: ToolCall }
  /** The answer ended as the provider intended. Exactly one of `finished` and `failed` comes, and it comes last. */
  | {
      readonly kind: 'finished';
      readonly finishReason: FinishReason;
      readonly usage: Usage | null;
      /** Reasoning and text parts with the provider's metadata, where a later request must hand them back. */
      readonly parts: readonly ContentPart[] | null;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly learnt: LearntLimit | null;
      readonly usage: Usage | null;
    };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other';

/** A limit that the provider stated as a fact, not as a lower bound or an output cap. */
export interface LearntLimit {
  readonly contextTokens: number;
}

/**
 * Sends one request to a model and streams its answer.
 *
 * The adapter makes no retries, runs no tools and stores nothing. Only a request that is refused for the order of its
 * roles goes out once more, in the order that the server takes. What a provider does wrong is a `failed` event and
 * never an exception. When `signal` aborts, the stream ends soon with `failed`, reason `aborted`; the request's socket
 * is closed. A stream that stays silent for longer than the configured time ends with reason `stalled`.
 */
export interface ModelProvider {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
