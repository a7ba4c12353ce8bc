import type { Exchange } from './exchange.ts';
import type { ReadFrame } from './wire.ts';
import { readChunk, sdkChunk } from './wire-chunk.ts';
import type { WireChunk } from './wire-chunk.ts';

/** Reads a frame of OpenAI's chat completions, or a whole answer of that form. */
export function readChatFrame(value: unknown, eventName: string | null, exchange: Exchange): ReadFrame {
  const chunk = readChunk(value, eventName);
  takeDown(chunk, exchange);
  return chunk.error === undefined ? { forSdk: sdkChunk(chunk) } : { error: chunk.error, forSdk: null };
}

function takeDown(chunk: WireChunk, exchange: Exchange): void {
  exchange.finishReason = chunk.finishReason ?? exchange.finishReason;
  exchange.nativeFinishReason = chunk.nativeFinishReason ?? exchange.nativeFinishReason;
  exchange.usage = chunk.usage ?? exchange.usage;
  exchange.hasText ||= chunk.content !== null || chunk.refusal !== null;
  exchange.countOutput(chunk.content);
  exchange.countOutput(chunk.refusal);
  if (chunk.reasoning !== null) exchange.sawReasoning(chunk.reasoning.text);
  if (chunk.reasoning?.isHandedBack === true) exchange.reasoning += chunk.reasoning.text;
  if (chunk.hasFunctionCall) exchange.startedCalls = 1;
  for (const delta of chunk.toolCalls) exchange.addOutputBytes(exchange.toolCalls.take(delta));
}
