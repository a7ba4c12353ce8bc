/*
 * One turn of 2,000 steps with growing tool outputs in a window of 32,000 tokens, on the whole core. The summary model
 * repeats every identifier that it is shown, so that what is lost was never shown to it.
 */
import { expect, test } from 'vitest';
import { ScriptedModel, textAnswer, toolAnswer } from '../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../src/adapters/outbound/memory/scripted-tools.ts';
import type { ModelRequest } from '../../src/core/ports/model-provider.ts';
import { MemoryGateway } from '../support/memory-gateway.ts';

const steps = 2000;
const windowTokens = 32_000;
const instruction = 'Keep the rule u7z in every file that you touch.';
/** One at the beginning and one at the end of each output, and one in the user's text. */
const identifiers = /\b[htu]\d+z\b/g;

/** What a provider checks: pairs of calls and results, the user first, nothing empty, and that it fits. */
function faultOf({ messages }: ModelRequest): string | null {
  if (messages[0]?.role !== 'user') return 'the user is not first';
  let open: string[] = [];
  let characters = 0;
  for (const message of messages) {
    characters += message.text.length;
    if (message.role === 'tool') {
      if (!open.includes(message.toolCallId)) return `the result ${message.toolCallId} has no call`;
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    if (open.length > 0) return `the call ${String(open[0])} has no result`;
    if (message.text === '' && (message.role === 'user' || message.toolCalls.length === 0)) return 'an empty message';
    if (message.role === 'assistant') open = message.toolCalls.map(({ id }) => id);
  }
  return characters / 4 > windowTokens ? `about ${String(characters / 4)} tokens` : null;
}

function outputOf(step: number): string {
  const size = 400 + (step % 50) * 160;
  return `h${String(step)}z ${'x'.repeat(size)} t${String(step)}z`;
}

test.each([false, true])(
  'an agent runs 2,000 steps without a loop and loses nothing that it was shown (in place: %s)',
  async (inPlace) => {
    const faults: string[] = [];
    let asked = 0;
    const model = new ScriptedModel((request) => {
      const fault = faultOf(request);
      if (fault !== null) faults.push(`${request.purpose} ${String(asked)}: ${fault}`);
      if (request.purpose === 'summary') {
        return textAnswer([...new Set(request.messages[0]?.text.match(identifiers) ?? [])].join(' '));
      }
      asked += 1;
      if (asked > steps) return textAnswer('Finished.');
      return toolAnswer([
        { id: `call-${String(asked)}`, name: 'scripted__read', arguments: `{"step":${String(asked)}}` },
      ]);
    });
    const tools = new ScriptedTools({
      read: (call) => ({ kind: 'answered', text: outputOf(Number(call.arguments['step'])), isError: false }),
    });
    const gateway = await MemoryGateway.started({
      model,
      tools,
      maxSteps: steps + 1,
      window: { contextTokens: windowTokens, outputTokens: 2000 },
      policy: { protectFirstN: 3, protectLastN: 20, inPlace },
    });
    const sessionId = await gateway.create({ toolsets: ['scripted.read'] });

    const ended = await gateway.turn(sessionId, 'work', instruction);

    const turns = gateway.requests('turn');
    const last = JSON.stringify(turns.at(-1)?.messages);
    const newTokens = Array.from({ length: steps }, (_, step) => outputOf(step).length / 4).reduce((a, b) => a + b, 0);
    const compressions = gateway.log(sessionId).filter(({ type }) => type === 'compression.started').length;
    expect(faults).toEqual([]);
    expect([ended.outcome, ended.failure]).toEqual(['completed', null]);
    expect(turns).toHaveLength(steps + 1);
    expect([last.includes(instruction), last.includes(`t${String(steps)}z`)]).toEqual([true, true]);
    expect(compressions).toBeGreaterThan(10);
    // Each compression makes room for thousands of tokens: it never comes to one for a few steps.
    expect(compressions / (newTokens / 1000)).toBeLessThan(0.2);
    expect(gateway.requests('summary').length).toBeLessThanOrEqual(2 * compressions);
    // What is not in the transcript itself is in its summary: an identifier that was never shown to the model would be lost.
    const kept = new Set((await gateway.transcript(sessionId)).flatMap(({ text }) => text.match(identifiers) ?? []));
    const all = Array.from({ length: steps }, (_, index) => [
      `h${String(index + 1)}z`,
      `t${String(index + 1)}z`,
    ]).flat();
    expect(['u7z', ...all].filter((id) => !kept.has(id))).toEqual([]);
  },
  60_000,
);
