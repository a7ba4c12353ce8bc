/*
 * Failures of compressions that other systems had, on the whole core. The kinds that a smaller test shows are named
 * there; docs/reference/failure-records.md says where.
 */
import { describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway, said } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';
import { aModel, smallWindow, textOf } from './pressure.ts';

/** A gateway whose turns first read outputs of these sizes, in tokens, and then answer; and a session that may. */
async function reading(sizes: readonly number[], options: MemoryGatewayOptions = {}) {
  const tools = new ScriptedTools({
    read: ({ arguments: given }) => ({
      kind: 'answered',
      text: textOf(Number(given['size']), 'line'),
      isError: false,
    }),
  });
  const steps = sizes.map((size, index) =>
    toolAnswer([
      aToolCall({ id: `read-${String(index)}`, name: 'scripted__read', arguments: `{"size":${String(size)}}` }),
    ]),
  );
  let step = 0;
  const model = new ScriptedModel(({ purpose }) => {
    if (purpose === 'summary') return textAnswer('SUMMARY OF BEFORE');
    step += 1;
    return steps[step - 1] ?? textAnswer('Done.');
  });
  const gateway = await MemoryGateway.started({ tools, model, ...options });
  const sessionId = await gateway.create({ toolsets: ['scripted.read'] });
  return { gateway, sessionId, tools };
}

const windowOf = (contextTokens: number) => ({ contextTokens, outputTokens: 1000 });

/** The tokens of a request, as the gateway counts them. */
function sizeOf({ messages, system }: ModelRequest): number {
  return messages.reduce((sum, { text }) => sum + text.length / 4, (system?.length ?? 0) / 4);
}

function expectValidRequests(gateway: MemoryGateway, windowTokens: number): void {
  for (const request of gateway.requests('turn')) {
    expect(requestFaults(request.messages)).toEqual([]);
    expect(sizeOf(request)).toBeLessThan(windowTokens);
  }
}

async function compressionsOf(gateway: MemoryGateway, sessionId: string): Promise<number> {
  return (await gateway.state(sessionId)).lineage.compressions;
}

describe('large tool results among the newest messages', () => {
  test('need no compression while the window holds a request that names them (B1)', async () => {
    const window = windowOf(200_000);
    const { gateway, sessionId } = await reading([90_000, 90_000], {
      window,
      policy: { protectFirstN: 3, protectLastN: 20, thresholdTokens: 128_000 },
    });

    for (let n = 0; n < 13; n += 1) await gateway.turn(sessionId, `talk-${String(n)}`);

    expect(gateway.requests('summary')).toEqual([]);
    expectValidRequests(gateway, window.contextTokens);
  });

  test('never make the window overflow, and what the user said stays word for word (B7)', async () => {
    const window = windowOf(128_000);
    const { gateway, sessionId } = await reading([60_000, 60_000, 60_000], {
      window,
      policy: { protectFirstN: 1, protectLastN: 6 },
    });

    const ended = await gateway.turn(sessionId, 'work', 'Read the three files and keep the rule u7z.');
    const after = await gateway.turn(sessionId, 'after', 'And now?');

    expect([ended.outcome, after.outcome]).toEqual(['completed', 'completed']);
    for (const request of gateway.requests('turn').slice(0, 4)) {
      expect(said(request)).toContain('user: Read the three files and keep the rule u7z.');
    }
    expectValidRequests(gateway, window.contextTokens);
  });
});

test('large prompts in the protected head and tail make one rotation that gains, and no chain of them (B1)', async () => {
  const window = windowOf(200_000);
  const { gateway, sessionId } = await reading([], {
    window,
    policy: { protectFirstN: 3, protectLastN: 20, thresholdTokens: 128_000 },
  });
  for (const inputId of ['paste-1', 'paste-2']) await gateway.turn(sessionId, inputId, textOf(63_000, inputId));
  await gateway.turn(sessionId, 'due', textOf(3000, 'due'));

  for (let n = 0; n < 5; n += 1) await gateway.turn(sessionId, `next-${String(n)}`);

  const gains = gateway
    .log(sessionId)
    .flatMap((event) => (event.type === 'compression.completed' ? [event.tokensAfter / event.tokensBefore] : []));
  expect(gains).toHaveLength(1);
  expect(gains[0]).toBeLessThan(0.6);
  expect(gateway.requests('summary')).toHaveLength(1);
  expectValidRequests(gateway, window.contextTokens);
});

test('twenty protected messages that fill the window give way to the budget, and no message is lost (B2)', async () => {
  const window = { contextTokens: 65_536, outputTokens: 4096 };
  const gateway = await MemoryGateway.started({
    model: new ScriptedModel(({ purpose }) =>
      textAnswer(purpose === 'summary' ? 'SUMMARY OF BEFORE' : textOf(1600, 'answer')),
    ),
    window,
    policy: { protectFirstN: 3, protectLastN: 20, threshold: 0.5 },
  });
  const sessionId = await gateway.create();

  for (let n = 0; n < 12; n += 1) {
    const ended = await gateway.turn(sessionId, `turn-${String(n)}`, textOf(1600, `prompt-${String(n)}`));
    expect(ended.outcome).toBe('completed');
  }

  expect(await compressionsOf(gateway, sessionId)).toBe(1);
  const parent = gateway.store.activeMessages(sessionId);
  const child = await gateway.transcript(sessionId);
  const origins = [...parent, ...child].filter(({ kind }) => kind === 'prompt').map(({ originId }) => originId);
  expect(new Set(origins).size).toBe(12);
  expectValidRequests(gateway, window.contextTokens);
});

test('a model that adds to the earlier summary every time never makes summaries grow without end (B14)', async () => {
  const model = aModel((request) => {
    const earlier = /<earlier_summary>\n([^]*)\n<\/earlier_summary>/.exec(request.messages[0]?.text ?? '')?.[1] ?? '';
    return textAnswer(`${earlier}${textOf(120, 'part')}`);
  });
  const gateway = await MemoryGateway.started({ model, window: smallWindow });
  const sessionId = await gateway.create();
  const sizes = new Set<number>();

  for (let n = 0; n < 24; n += 1) {
    await gateway.turn(sessionId, `turn-${String(n)}`, textOf(60, 'more'));
    await gateway.clock.advance(900_000);
    const summaries = (await gateway.transcript(sessionId)).filter(({ kind }) => kind === 'summary');
    expect(summaries.length).toBeLessThanOrEqual(1);
    for (const { text } of summaries) sizes.add(text.length / 4);
  }

  expect(sizes.size).toBeGreaterThan(2);
  // What is rebuilt is always smaller than the 800 tokens from which on a compression is due.
  expect(Math.max(...sizes)).toBeLessThan(800);
  expect(gateway.story(sessionId)).toContain('compression.failed');
  expectValidRequests(gateway, smallWindow.contextTokens);
});

describe('after many compressions', () => {
  async function often(times: number, options: MemoryGatewayOptions = {}) {
    let count = 0;
    const gateway = await MemoryGateway.started({
      model: aModel(() => textAnswer(`SUMMARY ${String((count += 1))}`)),
      window: smallWindow,
      ...options,
    });
    const sessionId = await gateway.create();
    for (let n = 0; n < 20 * times && (await compressionsOf(gateway, sessionId)) < times; n += 1) {
      await gateway.turn(sessionId, `turn-${String(n)}`, textOf(180, `word-${String(n)}`));
    }
    expect(await compressionsOf(gateway, sessionId)).toBe(times);
    return { gateway, sessionId };
  }

  test.each([false, true])(
    'a fresh process goes on with the newest transcript (in place: %s) (B22)',
    async (inPlace) => {
      const { gateway, sessionId } = await often(35, { policy: { inPlace } });
      const before = await gateway.state(sessionId);

      const next = await MemoryGateway.started({ store: gateway.store, window: smallWindow, model: aModel() });
      await next.turn(sessionId, 'after', 'Still there?');

      expect((await next.state(sessionId)).lineage.tipId).toBe(before.lineage.tipId);
      const lines = said(next.requests('turn').at(-1));
      expect(lines.filter((line) => line.includes('SUMMARY'))).toHaveLength(1);
      expect(lines.join('\n')).toContain(`SUMMARY ${String(before.lineage.compressions)}\n`);
    },
  );

  test('the user’s last word is the newest prompt, and the protected head is there once, before the summary (B46)', async () => {
    const { gateway } = await often(3, { policy: { protectFirstN: 3 } });

    for (const request of gateway.requests('turn')) {
      const lines = said(request);
      expect(lines.at(-1)).toMatch(/^user: word-/);
      const summary = lines.findIndex((line) => line.includes('<background>'));
      expect(new Set(lines).size).toBe(lines.length - repeatedAnswers(lines));
      if (summary > 3) expect.fail(`the summary is the message ${String(summary)}`);
    }
  });

  test('a request begins with the user (B43)', async () => {
    const { gateway } = await often(2, { policy: { protectFirstN: 0, protectLastN: 1 } });

    for (const { messages } of gateway.requests('turn')) expect(messages[0]?.role).toBe('user');
    expectValidRequests(gateway, smallWindow.contextTokens);
  });
});

/** The scripted model says the same in every turn. */
function repeatedAnswers(lines: readonly string[]): number {
  return Math.max(0, lines.filter((line) => line.startsWith('assistant: ')).length - 1);
}
