import { chatRequestFaults } from './assert-valid-chat-request.ts';
import { argumentsText, dataFrame, halves } from './dialect.ts';
import type { Dialect, Said } from './dialect.ts';
import type { ChatRequest } from './loopback-model.ts';

/** OpenAI's chat completions, as OpenAI itself streams them. */
export const chatDialect: Dialect = {
  wire: 'openai-chat',
  path: () => '/chat/completions',
  keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
  frames: (said) => chunks(said, (said.calls ?? []).length > 0 ? 'tool_calls' : 'stop'),
  cutShort: (said) => chunks(said, 'length'),
  errorFrame: dataFrame({ error: { message: 'The server had an error.', type: 'server_error', code: null } }),
  overflow: {
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    contextTokens: 128_000,
  },
  overloaded: {
    status: 503,
    body: { error: { message: 'The engine is currently overloaded', type: 'server_error', code: null } },
  },
  faults: (body) => chatRequestFaults((body as ChatRequest).messages), // A recorded body of this wire.
};

/** The same with reasoning, as DeepSeek and many local servers stream it. */
export const compatibleDialect: Dialect = { ...chatDialect, wire: 'openai-compatible' };

function chunks(said: Said, finishReason: string): readonly string[] {
  const { reasoning = '', text = '', calls = [], inputTokens = 10, outputTokens = 5 } = said;
  const deltas = [
    { role: 'assistant', content: '' },
    ...halves(reasoning).map((half) => ({ reasoning_content: half })),
    ...halves(text).map((half) => ({ content: half })),
    ...calls.flatMap(({ id, name, ...call }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...halves(argumentsText({ id, name, ...call })).map((half) => ({
        tool_calls: [{ index, function: { arguments: half } }],
      })),
    ]),
  ];
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return [
    ...deltas.map((delta) => dataFrame({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })),
    dataFrame({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: finishReason }] }),
    dataFrame({ id: 'c', choices: [], usage }),
    'data: [DONE]\n\n',
  ];
}
