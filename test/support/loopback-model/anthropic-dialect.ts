import { anthropicRequestFaults } from './anthropic-request-faults.ts';
import { argumentsText, eventFrame, halves } from './dialect.ts';
import type { Dialect, Said } from './dialect.ts';

/** Anthropic's messages, as https://docs.anthropic.com/en/docs/build-with-claude/streaming shows them. */
export const anthropicDialect: Dialect = {
  wire: 'anthropic',
  path: () => '/messages',
  keyHeader: (key) => ({ 'x-api-key': key }),
  frames: (said) => messageFrames(said, (said.calls ?? []).length > 0 ? 'tool_use' : 'end_turn'),
  cutShort: (said) => messageFrames(said, 'max_tokens'),
  errorFrame: eventFrame('error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  overflow: {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210482 tokens > 200000 maximum' },
    },
    contextTokens: 200_000,
  },
  overloaded: { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } },
  faults: anthropicRequestFaults,
};

function messageFrames(said: Said, stopReason: string): readonly string[] {
  const { reasoning, text, calls = [], inputTokens = 10, outputTokens = 5 } = said;
  const blocks: (readonly [start: unknown, deltas: readonly unknown[]])[] = [];
  if (reasoning !== undefined) {
    const thinking = halves(reasoning).map((half) => ({ type: 'thinking_delta', thinking: half }));
    const signature = { type: 'signature_delta', signature: 'c2lnbmVk' };
    blocks.push([{ type: 'thinking', thinking: '', signature: '' }, [...thinking, signature]]);
  }
  if (text !== undefined) {
    blocks.push([{ type: 'text', text: '' }, halves(text).map((half) => ({ type: 'text_delta', text: half }))]);
  }
  for (const call of calls) {
    const pieces = ['', ...halves(argumentsText(call))];
    blocks.push([
      { type: 'tool_use', id: call.id, name: call.name, input: {} },
      pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    ]);
  }
  return [
    eventFrame('message_start', {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: inputTokens, output_tokens: 1 },
      },
    }),
    eventFrame('ping', { type: 'ping' }),
    ...blocks.flatMap(([start, deltas], index) => [
      eventFrame('content_block_start', { type: 'content_block_start', index, content_block: start }),
      ...deltas.map((delta) => eventFrame('content_block_delta', { type: 'content_block_delta', index, delta })),
      eventFrame('content_block_stop', { type: 'content_block_stop', index }),
    ]),
    eventFrame('message_delta', {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    eventFrame('message_stop', { type: 'message_stop' }),
  ];
}
