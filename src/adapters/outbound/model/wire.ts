import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { ModelRequest } from '../../../core/ports/model-provider.ts';
import type { Exchange } from './exchange.ts';

/** One frame of a good answer, after it was taken down in the exchange. */
export interface ReadFrame {
  /** An error that the frame carries, as `classifyFailure` takes it; undefined when there is none. */
  readonly error?: unknown;
  /** What the SDK is to read of it, as JSON; null for nothing. */
  readonly forSdk: unknown;
  /** A frame that only says that the connection is alive. */
  readonly isKeepAlive?: boolean;
}

export type FrameReader = (value: unknown, eventName: string | null, exchange: Exchange) => ReadFrame;

/** Where and as whom a request goes out. */
export interface WireAddress {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

/** What an operator asks of one model beside its limits. */
export interface ModelOptions {
  readonly temperature: number | null;
  readonly reasoningEffort: ReasoningEffort | null;
  /** What the vendor's own interface knows beyond it, handed on as it is. */
  readonly providerOptions: Readonly<Record<string, unknown>>;
  /** Whether it takes alternating roles only; null: that is found out by a refusal. */
  readonly alternatingRoles: boolean | null;
}

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high';

export const noModelOptions: ModelOptions = {
  temperature: null,
  reasoningEffort: null,
  providerOptions: {},
  alternatingRoles: null,
};

/** How one vendor's interface is spoken: the request through its SDK, the answer's frames through our own eyes. */
export interface Wire {
  /** Under which key the vendor's own metadata stands; null for a wire that many vendors speak. */
  readonly vendor: 'anthropic' | 'google' | 'openai' | null;
  readonly readFrame: FrameReader;
  /** Whether a server may answer in one piece instead of a stream, and the frame reader understands that. */
  readonly takesWholeAnswers: boolean;
  /** Who puts streamed tool calls together: the exchange from the frames, or the SDK. */
  readonly callsFrom: 'frames' | 'sdk';
  model(modelId: string, address: WireAddress): LanguageModelV3;
  callOptions(request: ModelRequest, options: ModelOptions): LanguageModelV3CallOptions;
}
