import { isRecord } from './error-facts.ts';
import type { Exchange } from './exchange.ts';
import { countIn, recordIn, sumOf, textIn } from './frame-fields.ts';
import type { ReadFrame } from './wire.ts';

/**
 * Reads a frame of Anthropic's messages stream (https://docs.anthropic.com/en/docs/build-with-claude/streaming). Kinds of
 * frames that nobody knows are left out, as the documentation asks.
 */
export function readAnthropicFrame(value: unknown, eventName: string | null, exchange: Exchange): ReadFrame {
  if (!isRecord(value) || value['type'] === 'error' || eventName === 'error' || isRecord(value['error']))
    return { error: value, forSdk: null };
  switch (value['type']) {
    case 'ping':
      return { forSdk: null, isKeepAlive: true };
    case 'message_start':
      takeUsage(recordIn(recordIn(value, 'message'), 'usage'), exchange);
      return { forSdk: value };
    case 'content_block_start':
      takeBlock(recordIn(value, 'content_block'), exchange);
      return { forSdk: value };
    case 'content_block_delta':
      takeDelta(recordIn(value, 'delta'), exchange);
      return { forSdk: value };
    case 'message_delta':
      takeUsage(recordIn(value, 'usage'), exchange);
      exchange.finishReason = textIn(recordIn(value, 'delta'), 'stop_reason') ?? exchange.finishReason;
      return { forSdk: value };
    case 'content_block_stop':
    case 'message_stop':
      return { forSdk: value };
    default:
      return { forSdk: null };
  }
}

function takeBlock(block: Readonly<Record<string, unknown>> | null, exchange: Exchange): void {
  if (block?.['type'] === 'tool_use') exchange.sawToolCall(textIn(block, 'name') ?? '');
  if (block?.['type'] === 'redacted_thinking') exchange.sawReasoning(textIn(block, 'data') ?? '');
}

function takeDelta(delta: Readonly<Record<string, unknown>> | null, exchange: Exchange): void {
  exchange.sawText(textIn(delta, 'text') ?? '');
  exchange.sawReasoning(textIn(delta, 'thinking') ?? '');
  exchange.countOutput(textIn(delta, 'partial_json') ?? textIn(delta, 'signature'));
}

/** What was read from or written to the prompt cache is part of the input, and is not in `input_tokens`. */
function takeUsage(usage: Readonly<Record<string, unknown>> | null, exchange: Exchange): void {
  const input = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const;
  const promptTokens =
    countIn(usage, 'input_tokens') === null ? null : sumOf(input.map((name) => countIn(usage, name)));
  exchange.sawUsage({ promptTokens, completionTokens: countIn(usage, 'output_tokens') });
}
