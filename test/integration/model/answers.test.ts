import { describe, expect, it } from 'vitest';
import {
  frames,
  rawStream,
  reasoningAnswer,
  textAnswer,
  toolCallAnswer,
} from '../../support/loopback-model/answers.ts';
import { aRig, callsOf, endOf, failureOf, reasoningOf, textOf } from './harness.ts';

const chunk = (delta: object, finishReason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finishReason, ...more }],
});
const piece = (text: string) => chunk({ content: text });
const stop = chunk({}, 'stop');

describe('an answer that goes well', () => {
  it('streams its text as it comes and ends with the finish reason and the usage', async () => {
    const { ask } = await aRig(textAnswer('Hello to you'));

    const events = await ask();

    expect(events).toEqual([
      { kind: 'text', text: 'Hello ' },
      { kind: 'text', text: 'to ' },
      { kind: 'text', text: 'you' },
      {
        kind: 'finished',
        finishReason: 'stop',
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
        parts: null,
      },
    ]);
  });

  it('keeps reasoning apart from the answer', async () => {
    const { ask } = await aRig(textAnswer('Yes', { reasoning: 'Let me think' }));

    const events = await ask();

    expect(reasoningOf(events)).toBe('Let me think');
    expect(textOf(events)).toBe('Yes');
  });

  it('gives reasoning without an answer as no text at all', async () => {
    const { ask } = await aRig(reasoningAnswer('I only think'));

    const events = await ask();

    expect(textOf(events)).toBe('');
    expect(endOf(events)).toMatchObject({ kind: 'finished', finishReason: 'stop' });
  });

  it('takes the reasoning that some servers call "reasoning"', async () => {
    const { ask } = await aRig(frames([chunk({ reasoning: 'hm' }), piece('Yes'), stop]));

    expect(reasoningOf(await ask())).toBe('hm');
  });

  it('is finished by its finish reason, also when the end mark does not come', async () => {
    const { ask } = await aRig((call) => {
      call.delta({ content: 'Yes' });
      call.delta({}, 'stop');
      call.end();
    });

    expect(endOf(await ask())).toMatchObject({ kind: 'finished', finishReason: 'stop', usage: null });
  });

  it('is finished by its finish reason, also when the connection breaks right after it', async () => {
    const { ask } = await aRig(async (call) => {
      call.delta({ content: 'Yes' });
      call.delta({}, 'stop');
      await call.sleep(20);
      call.cut();
    });

    const events = await ask();

    expect(textOf(events)).toBe('Yes');
    expect(endOf(events).kind).toBe('finished');
  });

  it('is finished soon after its finish reason, also when the server keeps the connection open and silent', async () => {
    const { ask } = await aRig(
      (call) => {
        call.delta({ content: 'Yes' });
        call.delta({}, 'stop');
        return call.closed;
      },
      { tailTimeoutMs: 50 },
    );

    expect(endOf(await ask()).kind).toBe('finished');
  });

  it('uses one connection for requests that follow each other', async () => {
    const { ask, model } = await aRig(textAnswer('ok'));

    await ask();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await ask();

    expect(model.connectionCount).toBe(1);
  });

  it.each([
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['end_turn', 'stop'],
    ['something_new', 'other'],
  ])('names the finish reason %s as %s', async (raw, expected) => {
    const { ask } = await aRig(textAnswer('Yes', { finishReason: raw }));

    expect(endOf(await ask())).toMatchObject({ kind: 'finished', finishReason: expected });
  });

  it('takes an answer that comes whole from a server that does not stream', async () => {
    const { ask } = await aRig((call) =>
      call.send(200, {
        choices: [{ index: 0, message: { role: 'assistant', content: 'Whole' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
      }),
    );

    expect(await ask()).toEqual([
      { kind: 'text', text: 'Whole' },
      {
        kind: 'finished',
        finishReason: 'stop',
        usage: { inputTokens: 7, outputTokens: 1, totalTokens: 8 },
        parts: null,
      },
    ]);
  });
});

describe('usage', () => {
  it.each<[string, Readonly<Record<string, unknown>> | null, unknown]>([
    ['is null when it is missing', null, null],
    ['is null when it is all zero (B28, B29)', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, null],
    [
      'has null for a number that is missing',
      { prompt_tokens: 12 },
      { inputTokens: 12, outputTokens: null, totalTokens: null },
    ],
    [
      'has null for a number that is no number',
      { prompt_tokens: '12', total_tokens: 20 },
      { inputTokens: null, outputTokens: null, totalTokens: 20 },
    ],
  ])('%s', async (_, usage, expected) => {
    const { ask } = await aRig(textAnswer('Yes', { usage }));

    expect(endOf(await ask())).toMatchObject({ kind: 'finished', usage: expected });
  });

  it.each([
    ['empty', { choices: [], usage: { prompt_tokens: 43, completion_tokens: 13, total_tokens: 56 } }],
    ['null', { choices: null, usage: { prompt_tokens: 43, completion_tokens: 13, total_tokens: 56 } }],
    ['missing', { usage: { prompt_tokens: 43, completion_tokens: 13, total_tokens: 56 } }],
  ])(
    'is taken from a chunk whose choices are %s, wherever it stands, and makes no text (D10)',
    async (_, usageChunk) => {
      const { ask } = await aRig(
        frames([{ choices: [], prompt_filter_results: [] }, usageChunk, piece('Yes'), stop, usageChunk]),
      );

      const events = await ask();

      expect(textOf(events)).toBe('Yes');
      expect(endOf(events)).toMatchObject({
        kind: 'finished',
        usage: { inputTokens: 43, outputTokens: 13, totalTokens: 56 },
      });
    },
  );
});

describe('odd but legal streams', () => {
  it('is read when every chunk carries "error": null, an empty finish reason, an odd role and no content', async () => {
    const odd = (text: string | null, reason = '') => ({
      error: null,
      choices: [{ delta: { role: 'model', content: text, tool_calls: null, refusal: false }, finish_reason: reason }],
      usage: null,
    });
    const { ask } = await aRig(frames([odd(null), odd('Ye'), odd('s'), odd('', 'stop')]));

    const events = await ask();

    expect(textOf(events)).toBe('Yes');
    expect(endOf(events)).toMatchObject({ kind: 'finished', finishReason: 'stop' });
  });

  it('is not finished by an empty finish reason', async () => {
    const { ask } = await aRig(rawStream([`data: ${JSON.stringify(chunk({ content: 'Ye' }, ''))}\n\n`]));

    expect(failureOf(await ask())).toMatchObject({ reason: 'cut_off', retryable: true });
  });

  // F53
  it('survives characters, line ends and events that are split between packets', async () => {
    const bytes = Buffer.from(
      `: hello\r\n\r\ndata: ${JSON.stringify(piece('Grüße, 世界 🎉'))}\r\n\r\ndata:${JSON.stringify(stop)}\r\n\r\ndata: [DONE]\r\n\r\n`,
    );
    const { ask } = await aRig(rawStream([...bytes].map((byte) => Uint8Array.of(byte))));

    const events = await ask();

    expect(textOf(events)).toBe('Grüße, 世界 🎉');
    expect(endOf(events).kind).toBe('finished');
  });

  it('survives missing blank lines and heartbeats without data', async () => {
    const { ask } = await aRig(
      rawStream([`data:\n\ndata: ${JSON.stringify(piece('Yes'))}\ndata: ${JSON.stringify(stop)}\n\n`, 'data: [DONE]']),
    );

    const events = await ask();

    expect(textOf(events)).toBe('Yes');
    expect(endOf(events).kind).toBe('finished');
  });

  it('takes a stream whose content type is wrong', async () => {
    const { ask } = await aRig((call) =>
      call.send(200, `data: ${JSON.stringify(piece('Yes'))}\n\ndata: ${JSON.stringify(stop)}\n\n`, {
        'content-type': 'application/json',
      }),
    );

    expect(textOf(await ask())).toBe('Yes');
  });
});

describe('tool calls', () => {
  const calls = [
    { id: 'a', name: 'read_file', arguments: { path: 'notes.txt', from: 10 } },
    { id: 'b', name: 'list_files', arguments: '{}' },
  ];

  it('come whole and in order, after the text and before the end', async () => {
    const { ask } = await aRig(toolCallAnswer(calls, { text: 'Let me look' }));

    const events = await ask();

    expect(textOf(events)).toBe('Let me look');
    expect(callsOf(events)).toEqual([
      ['a', 'read_file', '{"path":"notes.txt","from":10}'],
      ['b', 'list_files', '{}'],
    ]);
    expect(endOf(events)).toMatchObject({ kind: 'finished', finishReason: 'tool_calls', parts: null });
  });

  it('are there when the finish reason came and the end mark did not (D4)', async () => {
    const { ask } = await aRig((call) => {
      call.delta({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] });
      call.delta({}, 'tool_calls');
      call.end();
    });

    expect(callsOf(await ask())).toEqual([['a', 'f', '{}']]);
  });

  it('are named as the finish reason when the server says "stop"', async () => {
    const { ask } = await aRig(toolCallAnswer(calls, { finishReason: 'stop' }));

    expect(endOf(await ask())).toMatchObject({ finishReason: 'tool_calls' });
  });

  it.each(['{', '{"time": 2'])(
    'are no calls when the stream ends inside the arguments %s (D1, D2)',
    async (partial) => {
      const { ask } = await aRig((call) => {
        call.delta({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'write_file', arguments: partial } }],
        });
        call.end();
      });

      const events = await ask();

      expect(callsOf(events)).toEqual([]);
      expect(failureOf(events)).toMatchObject({ reason: 'cut_off', retryable: true });
    },
  );

  // What cut arguments mean is for the one who runs tools; here they stay what the model wrote.
  it('bring arguments that the output limit cut just as they are, with the reason "length" (D5, D8)', async () => {
    const { ask } = await aRig(
      toolCallAnswer([{ id: 'a', name: 'run', arguments: '{"code":"aaaa' }], { finishReason: 'length' }),
    );

    const events = await ask();

    expect(callsOf(events)).toEqual([['a', 'run', '{"code":"aaaa']]);
    expect(endOf(events)).toMatchObject({ kind: 'finished', finishReason: 'length' });
  });

  it('are kept apart when they all have index 0 (D19)', async () => {
    const { ask } = await aRig(
      frames([
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'search', arguments: '{"q":1}' } }] }),
        chunk({ tool_calls: [{ index: 0, id: 'b', function: { name: 'search', arguments: '{"q":2}' } }] }),
        chunk({}, 'tool_calls'),
      ]),
    );

    expect(callsOf(await ask())).toEqual([
      ['a', 'search', '{"q":1}'],
      ['b', 'search', '{"q":2}'],
    ]);
  });

  it('are kept apart when they have no index (D20)', async () => {
    const { ask } = await aRig(
      frames([
        chunk({ tool_calls: [{ id: 'a', function: { name: 'get_weather', arguments: '{"city":' } }] }),
        chunk({ tool_calls: [{ function: { arguments: '"Bern"}' } }] }),
        chunk({ tool_calls: [{ id: 'b', function: { name: 'get_time', arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ]),
    );

    expect(callsOf(await ask())).toEqual([
      ['a', 'get_weather', '{"city":"Bern"}'],
      ['b', 'get_time', '{}'],
    ]);
  });

  it('get ids of their own where the server gave none, or one that the transcript has already', async () => {
    const { ask } = await aRig(
      frames([
        chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }),
        chunk({ tool_calls: [{ index: 1, id: 'call_0', function: { name: 'g', arguments: '{}' } }] }),
        chunk({}, 'tool_calls'),
      ]),
    );

    const events = await ask({
      messages: [
        { role: 'user', text: 'go', parts: null },
        { role: 'assistant', text: '', parts: null, toolCalls: [{ id: 'call_0', name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'call_0', toolName: 'f', text: 'done' },
      ],
    });

    expect(callsOf(events)).toEqual([
      ['made-1', 'f', '{}'],
      ['made-2', 'g', '{}'],
    ]);
  });

  it('run once when their frame comes twice', async () => {
    const call = (id: string) =>
      chunk({ tool_calls: [{ index: 0, id, type: 'function', function: { name: 'f', arguments: '{"x":1}' } }] });
    const { ask } = await aRig(frames([call('a'), call('a'), call('b'), call('a'), chunk({}, 'tool_calls')]));

    expect(callsOf(await ask())).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'f', '{"x":1}'],
    ]);
  });

  const tools = [{ name: 'f', description: '', parameters: { type: 'object' } }];

  it.each<[string, object, string]>([
    ['says that there is one', { content: 'Let me look.' }, 'tool_calls'],
    ['sends it in the old form', { content: 'Let me look.', function_call: { name: 'f', arguments: '{}' } }, 'stop'],
  ])('that do not arrive fail the step, when the server %s (D4)', async (_how, delta, reason) => {
    const { ask } = await aRig(frames([chunk(delta, reason)]));

    expect(failureOf(await ask({ tools }))).toMatchObject({ reason: 'cut_off', retryable: true });
  });

  it('are not missed where no tool was offered: the text is the answer', async () => {
    const { ask } = await aRig(frames([chunk({ content: 'Fine.' }, 'tool_calls')]));

    expect(endOf(await ask())).toMatchObject({ kind: 'finished', finishReason: 'stop' });
  });

  it('without a name fail the step instead of poisoning the transcript', async () => {
    const { ask } = await aRig(
      frames([chunk({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }), chunk({}, 'tool_calls')]),
    );

    const events = await ask();

    expect(callsOf(events)).toEqual([]);
    expect(failureOf(events).reason).toBe('cut_off');
  });

  it('bring the reasoning along that the provider wants back with their results', async () => {
    const { ask, model } = await aRig(
      toolCallAnswer([{ id: 'a', name: 'f', arguments: '{}' }], { reasoning: 'I need f' }),
    );

    const end = endOf(await ask());
    const parts = end.kind === 'finished' ? end.parts : null;
    await ask({
      messages: [
        { role: 'user', text: 'go', parts: null },
        { role: 'assistant', text: '', parts, toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'a', toolName: 'f', text: 'done' },
      ],
    });

    expect(parts).toEqual([{ type: 'reasoning', text: 'I need f' }]);
    expect(model.chats[1]?.messages[1]).toMatchObject({ role: 'assistant', reasoning_content: 'I need f' });
  });

  it('hand a thought signature back as it came', async () => {
    const { ask, model } = await aRig(
      frames([
        chunk({
          tool_calls: [
            {
              index: 0,
              id: 'a',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: { thought_signature: 'sig' } },
            },
          ],
        }),
        chunk({}, 'tool_calls'),
      ]),
    );

    const call = (await ask()).flatMap((event) => (event.kind === 'tool_call' ? [event.call] : []));
    await ask({
      messages: [
        { role: 'user', text: 'go', parts: null },
        { role: 'assistant', text: '', parts: null, toolCalls: call },
        { role: 'tool', toolCallId: 'a', toolName: 'f', text: 'done' },
      ],
    });

    expect(model.chats[1]?.messages[1]?.tool_calls?.[0]).toMatchObject({
      id: 'a',
      extra_content: { google: { thought_signature: 'sig' } },
    });
  });
});
