import { isRecord } from './error-facts.ts';
import type { Exchange } from './exchange.ts';
import { countIn, recordIn, textIn } from './frame-fields.ts';
import type { ReadFrame } from './wire.ts';

/** Reads a frame of OpenAI's responses stream (https://platform.openai.com/docs/api-reference/responses-streaming). */
export function readResponsesFrame(value: unknown, eventName: string | null, exchange: Exchange): ReadFrame {
  if (!isRecord(value)) return { error: value, forSdk: null };
  const response = recordIn(value, 'response');
  switch (value['type']) {
    case 'error':
      return { error: value, forSdk: null };
    case 'response.failed':
    case 'response.cancelled':
      return { error: { error: recordIn(response, 'error') ?? { message: 'The response failed.' } }, forSdk: null };
    case 'keepalive':
      return { forSdk: null, isKeepAlive: true };
    case 'response.output_text.delta':
      exchange.sawText(textIn(value, 'delta') ?? '');
      break;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      exchange.sawReasoning(textIn(value, 'delta') ?? '');
      break;
    case 'response.output_item.added':
      if (recordIn(value, 'item')?.['type'] === 'function_call')
        exchange.sawToolCall(textIn(recordIn(value, 'item'), 'name') ?? '');
      break;
    case 'response.completed':
      exchange.finishReason = 'completed';
      break;
    case 'response.incomplete':
      exchange.finishReason = textIn(recordIn(response, 'incomplete_details'), 'reason') ?? 'incomplete';
      break;
    default:
      if (eventName === 'error' || isRecord(value['error'])) return { error: value, forSdk: null };
      exchange.countOutput(textIn(value, 'delta'));
  }
  takeUsage(recordIn(response, 'usage'), exchange);
  return { forSdk: value };
}

function takeUsage(usage: Readonly<Record<string, unknown>> | null, exchange: Exchange): void {
  exchange.sawUsage({
    promptTokens: countIn(usage, 'input_tokens'),
    completionTokens: countIn(usage, 'output_tokens'),
    totalTokens: countIn(usage, 'total_tokens'),
  });
}
