import type { WireName } from '../../../src/adapters/outbound/model/make-provider.ts';
import type { Answer } from './loopback-model.ts';
import type { LoopbackToolCall } from './answers.ts';

/** What a model says in one answer, whatever its vendor. */
export interface Said {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly LoopbackToolCall[];
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** How a vendor streams an answer. Every frame is what one write would send. */
export interface Dialect {
  readonly wire: WireName;
  /** What the wire adds to the base URL. */
  readonly path: (model: string) => string;
  /** Headers by which a key is seen. */
  readonly keyHeader: (key: string) => Readonly<Record<string, string>>;
  readonly frames: (said: Said) => readonly string[];
  /** The same answer, ended because the most output tokens were reached. */
  readonly cutShort: (said: Said) => readonly string[];
  /** An error inside a stream whose own status is 200. */
  readonly errorFrame: string;
  /** What a request that is too long is refused with, and the window that it states. */
  readonly overflow: { readonly status: number; readonly body: unknown; readonly contextTokens: number | null };
  readonly overloaded: { readonly status: number; readonly body: unknown };
  /** Breaks of the vendor's rules in the body of a request. */
  readonly faults: (body: unknown) => readonly string[];
}

export function eventFrame(name: string, value: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** Streams frames, and ends. */
export function streamed(frames: readonly string[]): Answer {
  return (call) => {
    for (const frame of frames) call.raw(frame);
    call.end();
  };
}

export function argumentsText({ arguments: given }: LoopbackToolCall): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

/** A text in two pieces, so that no piece is the whole. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}
