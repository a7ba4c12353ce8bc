import { argumentsText, eventFrame, halves } from './dialect.ts';
import type { Dialect, Said } from './dialect.ts';
import { responsesRequestFaults } from './responses-request-faults.ts';

/** OpenAI's responses, as https://platform.openai.com/docs/api-reference/responses-streaming shows them. */
export const responsesDialect: Dialect = {
  wire: 'openai-responses',
  path: () => '/responses',
  keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
  frames: (said) => responseFrames(said, null),
  cutShort: (said) => responseFrames(said, 'max_output_tokens'),
  errorFrame: eventFrame('response.failed', {
    type: 'response.failed',
    sequence_number: 3,
    response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'The server had an error.' } },
  }),
  overflow: {
    status: 400,
    body: {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
    contextTokens: null,
  },
  overloaded: {
    status: 503,
    body: { error: { message: 'The engine is currently overloaded', type: 'server_error', code: null } },
  },
  faults: responsesRequestFaults,
};

function responseFrames(said: Said, incompleteReason: string | null): readonly string[] {
  const { reasoning, text, calls = [], inputTokens = 10, outputTokens = 5 } = said;
  const items = [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning)]),
    ...(text === undefined ? [] : [textItem(text)]),
    ...calls.map((call) => callItem(call.id, call.name, argumentsText(call))),
  ];
  const frames = items.flatMap((item, index) => item(index));
  const type = incompleteReason === null ? 'response.completed' : 'response.incomplete';
  return [
    frame({ type: 'response.created', response: { id: 'resp_1', created_at: 1_700_000_000, model: 'gpt-test' } }),
    ...frames,
    frame({
      type,
      response: {
        id: 'resp_1',
        incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
        usage: {
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        },
      },
    }),
  ];
}

type Item = (index: number) => readonly string[];

function reasoningItem(text: string): Item {
  return (index) => {
    const id = `rs_${String(index)}`;
    const place = { item_id: id, output_index: index, summary_index: 0 };
    return [
      added(index, { type: 'reasoning', id, encrypted_content: null, summary: [] }),
      frame({ type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } }),
      ...halves(text).map((delta) => frame({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      frame({ type: 'response.reasoning_summary_part.done', ...place, part: { type: 'summary_text', text } }),
      done(index, { type: 'reasoning', id, encrypted_content: 'c2VjcmV0', summary: [{ type: 'summary_text', text }] }),
    ];
  };
}

function textItem(text: string): Item {
  return (index) => {
    const id = `msg_${String(index)}`;
    const place = { item_id: id, output_index: index, content_index: 0 };
    return [
      added(index, { type: 'message', id, status: 'in_progress', role: 'assistant', content: [] }),
      ...halves(text).map((delta) => frame({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
      done(index, {
        type: 'message',
        id,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      }),
    ];
  };
}

function callItem(callId: string, name: string, text: string): Item {
  return (index) => {
    const id = `fc_${String(index)}`;
    const call = { type: 'function_call', id, call_id: callId, name };
    return [
      added(index, { ...call, arguments: '', status: 'in_progress' }),
      ...halves(text).map((delta) =>
        frame({ type: 'response.function_call_arguments.delta', item_id: id, output_index: index, delta }),
      ),
      frame({ type: 'response.function_call_arguments.done', item_id: id, output_index: index, arguments: text }),
      done(index, { ...call, arguments: text, status: 'completed' }),
    ];
  };
}

function added(index: number, item: unknown): string {
  return frame({ type: 'response.output_item.added', output_index: index, item });
}

function done(index: number, item: unknown): string {
  return frame({ type: 'response.output_item.done', output_index: index, item });
}

function frame(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return eventFrame(value.type, value);
}
