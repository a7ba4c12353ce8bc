import { isRecord } from './error-facts.ts';
import type { Exchange } from './exchange.ts';
import { countIn, listIn, recordIn, sumOf, textIn } from './frame-fields.ts';
import type { ReadFrame } from './wire.ts';

/** Reads a frame of Gemini's `streamGenerateContent` (https://ai.google.dev/api/generate-content). */
export function readGoogleFrame(value: unknown, eventName: string | null, exchange: Exchange): ReadFrame {
  if (!isRecord(value) || eventName === 'error' || isRecord(value['error'])) return { error: value, forSdk: null };
  takeUsage(recordIn(value, 'usageMetadata'), exchange);
  // A prompt that was blocked has no candidate, and so no finish reason of its own.
  exchange.finishReason = textIn(recordIn(value, 'promptFeedback'), 'blockReason') ?? exchange.finishReason;
  const [candidate] = listIn(value, 'candidates');
  for (const part of listIn(recordIn(candidate, 'content'), 'parts')) takePart(part, exchange);
  exchange.finishReason = textIn(candidate, 'finishReason') ?? exchange.finishReason;
  return { forSdk: value };
}

function takePart(part: unknown, exchange: Exchange): void {
  const call = recordIn(part, 'functionCall');
  if (call !== null) exchange.sawToolCall(JSON.stringify(call));
  const text = textIn(part, 'text') ?? '';
  if (isRecord(part) && part['thought'] === true) exchange.sawReasoning(text);
  else exchange.sawText(text);
  exchange.countOutput(textIn(part, 'thoughtSignature') ?? recordIn(part, 'inlineData'));
}

/** Thinking is part of the output, and is counted apart. */
function takeUsage(usage: Readonly<Record<string, unknown>> | null, exchange: Exchange): void {
  exchange.sawUsage({
    promptTokens: countIn(usage, 'promptTokenCount'),
    completionTokens: sumOf([countIn(usage, 'candidatesTokenCount'), countIn(usage, 'thoughtsTokenCount')]),
    totalTokens: countIn(usage, 'totalTokenCount'),
  });
}
