import { describe, expect, onTestFinished, test } from 'vitest';
import { makeProvider } from '../../../src/adapters/outbound/model/make-provider.ts';
import { ScriptedTools } from '../../../src/adapters/outbound/memory/scripted-tools.ts';
import { textAnswer } from '../../support/loopback-model/answers.ts';
import { assertValidChatRequest } from '../../support/loopback-model/assert-valid-chat-request.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import type { Answer } from '../../support/loopback-model/loopback-model.ts';
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
const whole = Buffer.from(`${beforeTheFinish}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
/** From here on the server has said that its answer is complete. */
const finishedAt = Buffer.byteLength(beforeTheFinish);

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

describe.each(Object.keys(breaks))('an answer with two calls in which %s', (how) => {
  test(
    'after any of its bytes: no tool runs from it, and the next request is valid',
    { timeout: 120_000 },
    async () => {
      const model = await LoopbackModel.start({ answer: textAnswer('Fine.') });
      const provider = makeProvider('openai-compatible', {
        baseUrl: model.url,
        apiKey: 'key',
        newCallId: () => 'made-up',
      });
      onTestFinished(async () => {
        provider.close();
        await model.close();
      });
      const tools = new ScriptedTools({ write: () => ({ kind: 'answered', text: 'written', isError: false }) });
      const gateway = await MemoryGateway.started({ provider, tools });

      for (let bytes = 0; bytes <= whole.length; bytes += 1) {
        const callsBefore = tools.calls.length;
        const requestsBefore = model.chats.length;
        const sessionId = await gateway.create({ toolsets: ['scripted.write'] });
        model.enqueue(breaks[how]?.(whole.subarray(0, bytes)) ?? textAnswer('never'));

        const broken = await gateway.turn(sessionId, 'a');
        const next = await gateway.turn(sessionId, 'b');

        const ran = tools.calls.slice(callsBefore).map(({ callId }) => callId);
        const at = `after ${bytes} of ${whole.length} bytes: ${broken.outcome}, ran ${ran.join()}`;
        // A frame whose end is missing may be read or not; both calls run or none.
        if (bytes <= finishedAt) expect(ran, at).toEqual([]);
        else expect([[], ['c1', 'c2']], at).toContainEqual(ran);
        expect(broken.outcome, at).toBe(ran.length === 0 ? 'failed' : 'completed');
        expect(next.outcome, at).toBe('completed');
        const sent = model.chats.slice(requestsBefore);
        expect(sent, at).toHaveLength(ran.length === 0 ? 2 : 3);
        for (const { messages } of sent) assertValidChatRequest(messages);
      }

      expect(tools.calls.slice(-2).map(({ callId, arguments: given }) => [callId, given])).toEqual([
        ['c1', { path: 'a' }],
        ['c2', {}],
      ]);
    },
  );
});
