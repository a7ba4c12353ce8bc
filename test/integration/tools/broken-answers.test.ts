import { describe, expect, onTestFinished, test } from 'vitest';
import { makeProvider } from '../../../src/adapters/outbound/model/make-provider.ts';
import { ScriptedTools } from '../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { WireName } from '../../../src/adapters/outbound/model/make-provider.ts';
import { anthropicDialect } from '../../support/loopback-model/anthropic-dialect.ts';
import { textAnswer } from '../../support/loopback-model/answers.ts';
import { assertValidChatRequest } from '../../support/loopback-model/assert-valid-chat-request.ts';
import { streamed } from '../../support/loopback-model/dialect.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import type { Answer, RecordedRequest } from '../../support/loopback-model/loopback-model.ts';
import { MemoryGateway } from '../../support/memory-gateway.ts';

/*
 * A streamed answer with two parallel tool calls, of which only the first n bytes arrive, for every n: the whole core,
 * the real adapter, real sockets.
 */

const chunk = (delta: object, finishReason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
const call = (index: number, more: object): string => chunk({ tool_calls: [{ index, ...more }] });
const begun = (index: number, id: string, args: string): string =>
  call(index, { id, type: 'function', function: { name: 'scripted__write', arguments: args } });

const beforeTheFinish = [
  chunk({ content: 'I write – é.' }),
  begun(0, 'c1', ''),
  call(0, { function: { arguments: '{"path":' } }),
  call(0, { function: { arguments: '"a"}' } }),
  begun(1, 'c2', '{}'),
].join('');
const anthropicFrames = anthropicDialect.frames({
  text: 'I write – é.',
  calls: [
    { id: 'c1', name: 'scripted__write', arguments: { path: 'a' } },
    { id: 'c2', name: 'scripted__write', arguments: {} },
  ],
});

interface Server {
  readonly wire: WireName;
  /** The answer up to where the server says that it is complete, and the rest. */
  readonly beforeTheFinish: string;
  readonly finish: string;
  readonly fine: Answer;
  readonly assertValid: (request: RecordedRequest) => void;
}

const servers: readonly Server[] = [
  {
    wire: 'openai-compatible',
    beforeTheFinish,
    finish: `${chunk({}, 'tool_calls')}data: [DONE]\n\n`,
    fine: textAnswer('Fine.'),
    assertValid: ({ body }) => assertValidChatRequest(body?.messages ?? []),
  },
  {
    wire: 'anthropic',
    beforeTheFinish: anthropicFrames.slice(0, -2).join(''),
    finish: anthropicFrames.slice(-2).join(''),
    fine: streamed(anthropicDialect.frames({ text: 'Fine.' })),
    assertValid: ({ rawBody }) => expect(anthropicDialect.faults(JSON.parse(rawBody))).toEqual([]),
  },
];

const breaks: Readonly<Record<string, (bytes: Uint8Array) => Answer>> = {
  'the connection breaks': (bytes) => async (each) => {
    each.begin();
    await new Promise((resolve) => each.response.write(bytes, resolve));
    each.cut();
  },
  'the stream ends as if it were complete': (bytes) => (each) => {
    each.raw(bytes);
    each.end();
  },
};

const everyBreak = servers.flatMap((server) => Object.entries(breaks).map(([how, cut]) => ({ server, how, cut })));

describe.each(everyBreak)('an answer with two calls from $server.wire in which $how', ({ server, cut }) => {
  test(
    'after any of its bytes: no tool runs from it, and the next request is valid',
    { timeout: 120_000 },
    async () => {
      const model = await LoopbackModel.start({ answer: server.fine });
      const provider = makeProvider(server.wire, { baseUrl: model.url, apiKey: 'key', newCallId: () => 'made-up' });
      onTestFinished(async () => {
        provider.close();
        await model.close();
      });
      const tools = new ScriptedTools({ write: () => ({ kind: 'answered', text: 'written', isError: false }) });
      const gateway = await MemoryGateway.started({ provider, tools });
      const whole = Buffer.from(server.beforeTheFinish + server.finish);
      const finishedAt = Buffer.byteLength(server.beforeTheFinish);

      for (let bytes = 0; bytes <= whole.length; bytes += 1) {
        const callsBefore = tools.calls.length;
        const requestsBefore = model.requests.length;
        const sessionId = await gateway.create({ toolsets: ['scripted.write'] });
        model.enqueue(cut(whole.subarray(0, bytes)));

        const broken = await gateway.turn(sessionId, 'a');
        const next = await gateway.turn(sessionId, 'b');

        const ran = tools.calls.slice(callsBefore).map(({ callId }) => callId);
        const at = `after ${bytes} of ${whole.length} bytes: ${broken.outcome}, ran ${ran.join()}`;
        // A frame whose end is missing may be read or not; both calls run or none.
        if (bytes <= finishedAt) expect(ran, at).toEqual([]);
        else expect([[], ['c1', 'c2']], at).toContainEqual(ran);
        expect(broken.outcome, at).toBe(ran.length === 0 ? 'failed' : 'completed');
        expect(next.outcome, at).toBe('completed');
        const sent = model.requests.slice(requestsBefore);
        expect(sent, at).toHaveLength(ran.length === 0 ? 2 : 3);
        for (const request of sent) server.assertValid(request);
      }

      expect(tools.calls.slice(-2).map(({ callId, arguments: given }) => [callId, given])).toEqual([
        ['c1', { path: 'a' }],
        ['c2', {}],
      ]);
    },
  );
});
